"""The server's own admission."""
