"""The network of the embedded cluster: services that can be dialled, and names for them.

It runs as the component `kube-proxy`. Reading order:

    routes    where a service is reached, and what is behind it (pure)
    ports     an address and port for each route, or the nearest that can be had
    splice    one TCP connection: two sockets and what goes between them
    tcp       accepts, chooses, dials             udp        the same for UDP
    load_balancing  who is next, and who comes back (pure)
    proxy     all listeners, kept in line with the routes
    dns/      zone: what the names mean (pure)    server: answers questions over UDP and TCP
    component the controller that ties it together

Nothing here needs privileges: a port below 1024 is mapped to one above, and a table says which.
"""
