"""kube-aggregator: groups that other servers serve, reached through this one.

Reading order:

    api_service      an APIService, as far as it matters here                         (pure)
    auto_register    the APIServices of what this server serves itself                (pure)
    front_proxy      what tells an extension server who asks, and that it is us       (pure)
    availability     what can be said of one before it is asked                       (pure)
    discovery        what one says of its resources                                   (pure)
    tls              connections to one
    fetch            one bounded question to one
    handler          a client's request, passed on to one
    controller       keeps conditions, discovery and local APIServices true
"""
