"""One container: its command, environment, image, and lifecycle."""
