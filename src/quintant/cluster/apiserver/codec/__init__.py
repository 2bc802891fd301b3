"""From bytes and query parameters to a typed request."""
