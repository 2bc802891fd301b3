"""One controller: what it watches, its queue, its reconciles, and its resync."""
