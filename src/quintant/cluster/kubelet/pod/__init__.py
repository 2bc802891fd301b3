"""One pod: planned, run, ended, and told of."""
