"""What handlers are given."""
