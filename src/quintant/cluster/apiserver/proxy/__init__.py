"""Requests that are passed on to pods, and the responses of those: pods/proxy and services/proxy.

Reading order:

    location       what a name and a path with `proxy` in them mean                       (pure)
    resolve        which pod and port that is
    rewrite, html  links of a response, so that they lead through the proxy again         (pure)
    headers        what is passed on of a head, and what belongs to one connection alone  (pure)
    exchange       one request over a connection to a pod
    upgrade        the same, after which both sides speak another protocol
    nodes          what a kubelet answers, of what the server knows itself
    rest           from a request to its response
"""
