"""What klight does: calls to peers, records on pods, events."""
