"""Long work in threads, and limits of time."""
