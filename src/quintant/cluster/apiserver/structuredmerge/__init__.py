"""Sets of fields, schemas of them, and typed merging."""
