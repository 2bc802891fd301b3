"""The whole program: controllers started, watched over, and installed."""
