"""Tables and arrays on disk: what the readers of graphs are made of."""
