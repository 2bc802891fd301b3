"""The documents about the server itself: groups, OpenAPI, health."""
