"""What to do about a CosmosFullNode. Pure.

children      which children there should be            claims      volumes, sources, growth
rollout       which pods are replaced now               pre_upgrade the copy before an upgrade
conditions    what is so                                failing     what keeps nodes from working
status        what the status says of it
conclusion    all of it: status, events, when to look again
health        what is so of the further kinds           preview     what a change would do
"""
