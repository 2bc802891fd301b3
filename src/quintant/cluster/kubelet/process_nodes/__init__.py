"""Nodes of this machine beside `local`: each a kubelet of its own, with faults by annotation.

status      what such a node says of itself (pure)        meter   what its pods use
node        one node while it is on: a kubelet, and its ways to the API server, which can be cut
controller  which nodes there are, and what is wrong with them
"""
