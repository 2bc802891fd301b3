"""What handlers say: decorators and what they take."""
