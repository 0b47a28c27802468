"""What was measured, for a person: tables, figures and readings in plain words."""
