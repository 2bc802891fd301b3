"""What the controller asks of lightpeers, and gRPC that carries it."""
