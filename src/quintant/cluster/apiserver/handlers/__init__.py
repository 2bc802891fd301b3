"""One module per verb and subresource."""
