"""What the Cosmos operator costs and how soon it acts, each part in a process of its own.

tables    every budget with its verdict: what `python -m benchmarks cosmos` runs
polling   CPU of a poll, beside a bare loop and aiohttp
passes    a pass that changes nothing, with and without the memory of revisions
holding   memory for many CosmosFullNodes at rest, beside the same objects as dicts
trials    from nothing to Complete, successors, dead nodes, rolling updates, snapshots
sidecar   memory and CPU of the health check
chain     modelled nodes that answer over HTTP      world   a cluster around them
"""
