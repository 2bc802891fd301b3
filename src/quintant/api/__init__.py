"""Kubernetes' own kinds, as the typed projections we use."""
