"""Whether a user may: RBAC."""
