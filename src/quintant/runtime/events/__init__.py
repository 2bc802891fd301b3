"""Kubernetes events: recorded, and gathered into series."""
