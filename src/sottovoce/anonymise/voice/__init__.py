"""Voice anonymisers: one module a method."""
