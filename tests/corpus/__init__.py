"""A corpus of inputs: files, commands and calls, and what must come of each."""
