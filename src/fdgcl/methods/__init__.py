"""Methods that turn a graph into embeddings without labels."""
