"""The operator at work: from events of the API server to calls of handlers, and back."""
