"""What klight reads: pods as peers, their networks, and what it remembers of them."""
