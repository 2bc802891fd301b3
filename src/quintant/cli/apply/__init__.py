"""Commands that write manifests to a cluster, for machines without kubectl."""
