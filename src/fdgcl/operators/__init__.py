"""The normalised adjacency A of a graph, as something to apply to columns."""
