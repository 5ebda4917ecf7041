"""What the committed runs out of core say: rates fitted to them, and forecasts."""
