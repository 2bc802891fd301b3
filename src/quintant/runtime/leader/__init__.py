"""Leader election: one of many acts."""
