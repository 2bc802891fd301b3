"""Reads caches, topology and figures of nodes into what decisions are made from.

reader     everything about one device          triggers   which changes wake a device
moves      what runs on lost nodes, and elsewhere
follower   keeps the topology true              collector  figures of nodes, period by period
"""
