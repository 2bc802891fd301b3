"""Authentication: from the credentials of a request to a user, by certificate or token."""
