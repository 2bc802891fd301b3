"""What is read before anything is decided: caches, Secrets, and what the provider says.

caches ──> binding, session ──> one question to the provider ──> Observed
"""
