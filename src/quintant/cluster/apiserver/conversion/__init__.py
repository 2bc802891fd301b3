"""Built-in kinds in their other versions."""
