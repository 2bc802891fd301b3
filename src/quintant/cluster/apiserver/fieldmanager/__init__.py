"""managedFields: who owns which field, after updates and server-side apply."""
