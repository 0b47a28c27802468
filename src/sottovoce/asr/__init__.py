"""Speech recognition: words for utility, features for synthesis."""
