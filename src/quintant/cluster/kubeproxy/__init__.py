"""The network of the embedded cluster: services that can be dialled, and names for them.

It runs as the component `kube-proxy`. Reading order:

    routes    where a service is reached, and what is behind it (pure)
    ports     an address and port for each route, or the nearest that can be had
    relay     one TCP connection: two sockets and what goes between them
    listener  TCP: accepts, chooses, dials        datagrams  the same for UDP
    balance   who is next, and who comes back (pure)
    proxy     all listeners, kept in line with the routes
    message   DNS on the wire                     zone       what the names mean (pure)
    nameserver  answers questions over UDP and TCP
    component   the controllers that tie it together

Nothing here needs privileges: a port below 1024 is mapped to one above, and a table says which.
"""
