"""What a process reports of itself: logs, metrics, and where they are served."""
