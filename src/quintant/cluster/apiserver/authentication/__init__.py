"""From credentials to a user."""
