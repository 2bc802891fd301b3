"""What to do about a CosmosFullNode. Pure.

upgrades      which version a node is to run            rollout     which pods are replaced now
conditions    what is so                                status      what is told of it
conclusion    all of it: status, events, when to look again
health        what is so of the further kinds
"""
