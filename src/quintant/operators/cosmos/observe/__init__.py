"""What a CosmosFullNode depends on.

triggers   what wakes it     reader   how it is read, from caches     observed   what is known then
"""
