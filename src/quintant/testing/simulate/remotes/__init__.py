"""What is outside of the cluster, modelled: in memory, under virtual time."""
