"""The ConfigMap of instructions: read from its folder, understood as far as it goes, read again."""
