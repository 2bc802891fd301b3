"""Connections of clients with containers: what goes over them, as k8s.io/streaming has it.

Reading order:

    channels    which stream a message belongs to, and how a session ends    (pure)
    websocket   messages over a connection
    session     a client and a program, joined
"""
