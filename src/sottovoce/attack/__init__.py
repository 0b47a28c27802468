"""The adversary: what it knows, what it trains, how it links."""
