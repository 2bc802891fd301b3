"""What brings the children of a CosmosFullNode in line, each by a control of its own.

full_node_control   all of them, in order
*_control           Services, node keys, ConfigMaps, account, pods, claims
"""
