"""A program of the control plane: a user, a role, and a manager."""
