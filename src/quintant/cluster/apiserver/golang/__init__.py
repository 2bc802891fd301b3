"""What Go's standard library prints and parses."""
