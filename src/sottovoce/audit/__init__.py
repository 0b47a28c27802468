"""The whole way: from recordings to evidence. The only room that knows all the others."""
