"""Model prices in the engine's dictionary, and repricing of stored spans."""
