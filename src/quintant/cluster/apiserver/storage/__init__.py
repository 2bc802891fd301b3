"""The store: revisions and history, in memory and on disk."""
