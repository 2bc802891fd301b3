"""syncLoadBalancerIfNeeded: a Service of type LoadBalancer gets an address of this machine.

A real cluster leaves this to its cloud. Here the address of the service can be dialled anyway, so
that is what the status says. Services with a class of their own are somebody else's to serve. One
with the annotation `simulated.quintant.dev/load-balancer: pending` waits as for a slow cloud.
"""

from __future__ import annotations

from quintant.api.core import LoadBalancerIngress, LoadBalancerStatus, Service, ServiceStatus
from quintant.cluster.common.labels import LOAD_BALANCER
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context

NAME = "service-lb-controller"
TYPE = "LoadBalancer"
PENDING = "pending"


def declare(manager: Manager) -> None:
    """Add the controller of load balancers."""
    manager.controls(Service, name=NAME).reconcile(reconcile)


async def reconcile(service: Service, ctx: Context[Service]) -> None:
    """Make a service's status say where it is reached from outside, if anywhere."""
    if service.spec.load_balancer_class is None:
        await ctx.client.set_status(service, status(service))


def status(service: Service) -> ServiceStatus:
    """What a service should tell of its load balancer."""
    spec = service.spec
    if service.metadata.annotations.get(LOAD_BALANCER) == PENDING:
        return ServiceStatus()
    if spec.type != TYPE or not spec.cluster_ip:
        return ServiceStatus()
    return ServiceStatus(
        load_balancer=LoadBalancerStatus(ingress=(LoadBalancerIngress(ip=spec.cluster_ip),))
    )
