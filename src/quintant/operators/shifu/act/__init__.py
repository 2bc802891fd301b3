"""What is done: children written and deleted, statuses said, moves begun."""
