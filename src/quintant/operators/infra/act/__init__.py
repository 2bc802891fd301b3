"""What is done about a Cluster: records, calls of its provider, Secrets, its status."""
