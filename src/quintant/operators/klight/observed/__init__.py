"""What is known of a network when it is decided: pods, answers of peers, what is remembered."""
