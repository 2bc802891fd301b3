"""What containers print, kept in files."""
