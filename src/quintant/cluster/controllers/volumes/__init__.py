"""Claims and volumes: bound, protected, released."""
