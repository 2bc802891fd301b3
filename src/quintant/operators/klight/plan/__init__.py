"""What klight decides: pure functions of what was observed and answered."""
