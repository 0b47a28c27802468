"""An example of every extension that sottovoce takes: one module an entry-point group."""
