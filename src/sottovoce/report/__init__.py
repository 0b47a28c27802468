"""Results for a person: tables, figures, verdicts in plain words, and pages of one file.

Everything here takes typed findings and computes nothing: no score is read, no measure calculated.
"""
