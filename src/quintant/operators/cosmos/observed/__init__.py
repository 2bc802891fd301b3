"""What is known of a CosmosFullNode when it is decided: children, and what nodes answered."""
