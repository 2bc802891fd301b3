"""The members of a network: who lives, who orders blocks, and how all get them."""
