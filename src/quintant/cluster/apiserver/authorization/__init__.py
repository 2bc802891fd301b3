"""Authorization: whether a user may do what is asked, by RBAC; nobody escalates."""
