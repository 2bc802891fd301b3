"""What a reconciler is given, what it may return, and what follows from that."""
