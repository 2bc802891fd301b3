"""Where an API server is, and as whom to speak to it."""
