"""What is wrong with pods: containers, variables, volumes, probes, scheduling, templates."""
