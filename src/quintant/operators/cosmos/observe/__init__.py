"""What a CosmosFullNode depends on: triggers are what wakes it, reader is how it is read."""
