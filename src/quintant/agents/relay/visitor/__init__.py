"""The side of a relay that visitors connect to: requests, forwarded."""
