"""Document 004, COMPRISE deliverable D2.3: voice and text transformation, private learning."""
