"""Every kind that the embedded server serves, with every field, a module per group and version."""
