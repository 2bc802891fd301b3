"""SelfHealing: volumes that grow as they fill, nodes that are restarted when they fall behind."""
