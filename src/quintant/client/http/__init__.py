"""HTTP/1.1 to an API server: connections, their pool, and how they are dialled."""
