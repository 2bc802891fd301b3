"""Volumes of pods, and what is mounted from them."""
