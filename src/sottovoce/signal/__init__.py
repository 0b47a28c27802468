"""Signal processing on NumPy arrays: thin layers over libraries."""
