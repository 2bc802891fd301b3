"""What the programs of the control plane agree on, and nothing that acts."""
