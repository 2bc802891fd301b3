"""The patch formats: JSON patch, merge patch, strategic merge patch of built-in kinds."""
