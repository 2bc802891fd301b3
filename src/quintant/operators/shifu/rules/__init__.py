"""What users write, understood: hints, coordinates, amounts, and what makes a device servable."""
