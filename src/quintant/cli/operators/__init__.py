"""Commands that run, install and look into operators."""
