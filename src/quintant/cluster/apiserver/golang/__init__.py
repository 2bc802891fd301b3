"""What Go's standard library prints and parses, word for word: clients compare messages."""
