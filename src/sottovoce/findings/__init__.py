"""Typed results of measuring, attacking and auditing, and their JSON form."""
