"""What the server says of itself: API resources, OpenAPI v2 and v3, health."""
