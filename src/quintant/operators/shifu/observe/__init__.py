"""What is known: of devices and their objects from the caches, of nodes also from their figures.

views      the little that is held of each object    edgemap    who is where
nodes      nodes: phases, free memory                topology   both, kept true by the caches
reader     everything about one device               collector  figures, period by period
"""
