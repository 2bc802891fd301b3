"""CustomResourceDefinitions, and the kinds that they define."""
