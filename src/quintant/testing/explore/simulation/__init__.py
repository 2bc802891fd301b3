"""One run: its world, when that is quiet, and what is left of it to be compared."""
