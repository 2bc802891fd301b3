"""One controller: what it watches, its queue, and its turns."""
