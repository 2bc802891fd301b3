"""Pods, as controllers see, make and remove them."""
