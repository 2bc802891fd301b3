"""What follows from a write and is done before the next request: definitions served, roles
aggregated, quotas counted, events expired.
"""
