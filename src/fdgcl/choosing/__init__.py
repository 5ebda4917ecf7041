"""Settings by a few labels: a portfolio of one diffusion, scored on validation."""
