"""Commands that test operators."""
