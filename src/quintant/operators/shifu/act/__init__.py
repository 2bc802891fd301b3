"""Effects: children written and deleted, statuses written, moves begun."""
