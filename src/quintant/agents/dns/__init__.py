"""Names of the cluster for programs in its pods, where /etc/resolv.conf may not be changed.

The node tells a program of the cluster's nameserver by two variables, and puts the folder `site`
before its PYTHONPATH. With that, `socket.getaddrinfo` of any Python program knows the names of
services; asyncio uses it, and so does whatever is built on either. Without the variables, nothing
is changed.

    message       DNS on the wire
    resolver      from a name to addresses and ports
    getaddrinfo   the standard library's, with names of the cluster
    host_resolver for programs that connect by themselves, whatever their loop

Only the standard library is loaded.
"""
