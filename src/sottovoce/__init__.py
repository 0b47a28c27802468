"""Know what a voice still gives away."""

__version__ = "0.1.0"
