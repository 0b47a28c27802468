"""What a model remembers of its training text: secrets that are inserted, and how to score them."""
