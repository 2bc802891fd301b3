"""What klight does: asks peers, writes records on pods, records events."""
