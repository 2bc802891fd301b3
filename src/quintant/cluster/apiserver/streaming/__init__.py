"""Connections of clients with containers: what goes over them, as k8s.io/streaming has it.

Reading order:

    channels      which stream a message belongs to, and how a session ends    (pure)
    websocket     messages over a connection
    spdy          the same for older clients
    negotiate     which of the two
    session       a client and a program, joined
    port_forward  a client and ports of a pod
    port_channels the same as some clients of WebSockets have it
"""
