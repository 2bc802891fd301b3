"""What a chain announces: the upgrade it has planned, asked of one of its nodes."""
