"""Formats on the wire that an operator and its agent share. Stands alone: nothing of ours below."""
