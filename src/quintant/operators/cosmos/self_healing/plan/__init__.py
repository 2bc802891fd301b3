"""What is mended of a CosmosFullNode, if its user asks for it. Pure.

question     which pods are asked               memory       what is remembered between two looks
growth       one that is fuller than the mark is to be larger; not while it is growing already
restarts     drift: a node claims to be in sync and is far behind its siblings
             stall: its height stands still while others advance, it is silent, or has no peers
rebuild      crash loop: its program ends again and again; it begins again, from the newest copy
status       what is noted in the status        conclusion   what is reported, and what is next
"""
