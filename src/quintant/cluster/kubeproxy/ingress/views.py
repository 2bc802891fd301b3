"""networkingv1.Ingress, networkingv1.IngressClass: as the ingress controller sees them.

The same as in quintant.api.kubernetes, without what else is in that group and in core: a cluster
without Ingresses does not pay for those.
"""

from __future__ import annotations

from quintant.core.object import Model, Object
from quintant.core.resource import resource


class ServiceBackendPort(Model):
    """A port of a Service, by name or number."""

    name: str = ""
    number: int = 0


class IngressServiceBackend(Model):
    """A Service, and a port of it."""

    name: str = ""
    port: ServiceBackendPort = ServiceBackendPort()


class IngressBackend(Model):
    """What is behind a path; a resource that is no Service is not served."""

    service: IngressServiceBackend | None = None


class HTTPIngressPath(Model):
    """A path, how it is compared, and what is behind it."""

    path: str = ""
    path_type: str | None = None
    backend: IngressBackend = IngressBackend()


class HTTPIngressRuleValue(Model):
    """The paths of a host."""

    paths: tuple[HTTPIngressPath, ...] = ()


class IngressRule(Model):
    """A host, or any, and its paths."""

    host: str = ""
    http: HTTPIngressRuleValue | None = None


class IngressTLS(Model):
    """Hosts, or all, and the Secret of their certificate."""

    hosts: tuple[str, ...] = ()
    secret_name: str | None = None


class IngressSpec(Model):
    """What is to be served."""

    ingress_class_name: str | None = None
    default_backend: IngressBackend | None = None
    tls: tuple[IngressTLS, ...] = ()
    rules: tuple[IngressRule, ...] = ()


class IngressPortStatus(Model):
    """A port at which an Ingress is served."""

    port: int = 0
    protocol: str = ""


class IngressLoadBalancerIngress(Model):
    """Where an Ingress is served."""

    ip: str = ""
    ports: tuple[IngressPortStatus, ...] = ()


class IngressLoadBalancerStatus(Model):
    """Everywhere an Ingress is served."""

    ingress: tuple[IngressLoadBalancerIngress, ...] = ()


class IngressStatus(Model):
    """What the controller says."""

    load_balancer: IngressLoadBalancerStatus = IngressLoadBalancerStatus()


@resource(group="networking.k8s.io", version="v1", plural="ingresses", status=True)
class Ingress(Object):
    """Hosts and paths, and the Services behind them."""

    spec: IngressSpec = IngressSpec()
    status: IngressStatus = IngressStatus()


class IngressClassSpec(Model):
    """Who serves the Ingresses of a class."""

    controller: str = ""


@resource(group="networking.k8s.io", version="v1", plural="ingressclasses", namespaced=False)
class IngressClass(Object):
    """A class of Ingresses."""

    spec: IngressClassSpec = IngressClassSpec()
