"""The CacheController: it manages no kind, and lets the nodes of CosmosFullNodes be asked."""
