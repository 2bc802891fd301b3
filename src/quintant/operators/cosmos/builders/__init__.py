"""The children of a CosmosFullNode, each made by a builder of its own. Pure.

instances   names, labels, and which instances there are: what all children have in common
*_builder   Services, node keys, peers, ConfigMaps, account, pods and their containers, claims
"""
