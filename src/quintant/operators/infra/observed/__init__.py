"""What is known of a Cluster when it is decided: values, and what a provider answered."""
