"""A kind: its identity, its strategy, the catalog of kinds, and the form its objects are
stored in.
"""
