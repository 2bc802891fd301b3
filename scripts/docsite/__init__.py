"""The pages of `docs/` as a website that needs no server and nothing from elsewhere."""
