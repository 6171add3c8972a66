"""What fits a model: arrays and records in, no prompts."""
