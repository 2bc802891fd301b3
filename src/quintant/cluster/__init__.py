"""The embedded control plane."""
