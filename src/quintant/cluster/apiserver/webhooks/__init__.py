"""Admission webhooks: which are concerned, and how they are asked."""
