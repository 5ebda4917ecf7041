"""Graphs larger than memory: a store on disk, diffused and trained on by parts."""
