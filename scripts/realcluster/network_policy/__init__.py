"""What a network with policies has on every node: an agent that lets through what they allow.

    rules      policies, pods and namespaces → the traffic that every isolated pod may have
    nftables   that traffic → a table of the kernel's packet filter
    agent      keeps the table of one node true

No agent of others can be had here with a checksum that Go accepts, so this one is on Quintant's own
runtime. It knows IPv4, and refuses aloud: a connection that no policy allows ends at once, with
"no route to host", so that no test has to wait for silence.
"""
