"""The built-in kinds: their identities, their strategies, and the objects of a new cluster."""
