"""Calls between peers, and how gRPC carries them."""
