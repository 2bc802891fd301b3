"""Quintant: the Python controller runtime for Kubernetes.

The public names, loaded when first used, so that a small program pays only for what it touches.
"""
