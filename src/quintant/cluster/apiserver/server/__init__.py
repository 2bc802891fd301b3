"""The front door: HTTPS, the server, and the chain of a request put together."""
