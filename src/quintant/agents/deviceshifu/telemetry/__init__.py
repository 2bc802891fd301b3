"""Readings of a device: taken at intervals, the newest kept, and sent on where that is wanted."""
