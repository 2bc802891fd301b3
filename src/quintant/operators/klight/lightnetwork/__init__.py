"""LightNetwork: the object that shows a network."""
