"""What a process tells of itself: logs, metrics, and where they are served."""
