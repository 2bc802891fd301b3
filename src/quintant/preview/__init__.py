"""What a version of an operator would do to a cluster, without doing it.

    live cluster ──GET──> LiveReader ──objects──> ClusterCopy (an API server in this process)
                                                     ^  reads, watches and every write
                                                     └─ PreviewTransport <── the manager

What the manager reads is copied when it is first asked for, and every write is carried out on the
copy: the manager goes on as if it had happened. At the end the copy is compared with what it began
with. Nothing but GET leaves for the live cluster, whatever the manager does.
"""
