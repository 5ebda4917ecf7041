"""Pages and figures: what a run found, as one HTML file or as files for a paper."""
