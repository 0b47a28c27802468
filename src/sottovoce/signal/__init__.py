"""Signal processing: thin, over libraries."""
