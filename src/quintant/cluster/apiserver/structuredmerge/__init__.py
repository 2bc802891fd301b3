"""sigs.k8s.io/structured-merge-diff: sets of fields, schemas, and typed merging by them."""
