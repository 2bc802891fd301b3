"""The ingress controller of the embedded cluster: Ingresses of its class are served here.

It runs as the component `ingress-controller`, in clusters that have controllers and pods that are
processes. Reading order:

    routes          from Ingresses to rules, and from a request to a Service (pure)
    backends        the endpoints of Services that are ready, in turns
    certificates    which certificate a host name is shown
    backend_stream  one connection to a pod
    frontend        a client's connection, request by request
    listeners       the ports for HTTP and HTTPS, or the nearest that can be had
    controller      keeps all of it in line with the objects of the cluster
    component       what is started, and the objects that the cluster has for it

A request is passed on by the same code as by the relay of portal (quintant.agents.relay.visitor).
"""
