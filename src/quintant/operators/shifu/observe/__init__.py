"""What is known: of devices and their objects from the caches, of nodes also from their figures.

views        the little that is held of each object    edgemap    who is where
node_record  one node: phase, free memory              topology   both, kept true by the caches
nodes        all of them                               collector  figures, period by period
reader       everything about one device
"""
