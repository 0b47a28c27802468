"""Every table and figure of the documents this package implements, one command each."""
