"""Speech recognition: recognisers, normalisation of transcripts, features of the content."""
