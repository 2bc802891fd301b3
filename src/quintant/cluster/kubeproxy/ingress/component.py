"""IngressClass: the component `ingress-controller`, and the class that is there by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from quintant.api.meta import ObjectMeta
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.kubeproxy.ingress.certificates import Certificates
from quintant.cluster.kubeproxy.ingress.controller import (
    CONTROLLER,
    DEFAULT_CLASS,
    IngressController,
)
from quintant.cluster.kubeproxy.ingress.views import IngressClass, IngressClassSpec
from quintant.core.clock import Clock, Random
from quintant.keys.authority import Authority, Validity

CLASS = "quintant"
LIFE = timedelta(days=365)
"""Of the certificate that is shown where no Secret has one; it is made at every start."""
_NAME = "ingress.quintant.invalid"
"""What that certificate is for: no host at all."""


def ingress_class() -> IngressClass:
    """The class that this controller serves, for who names none."""
    metadata = ObjectMeta(name=CLASS, annotations={DEFAULT_CLASS: "true"})
    return IngressClass(metadata=metadata, spec=IngressClassSpec(controller=CONTROLLER))


@asynccontextmanager
async def running_ingress(
    server: ApiServer, address: str, authority: Authority, clock: Clock, random: Random
) -> AsyncIterator[IngressController]:
    """Serve the Ingresses of a cluster at an address for as long as the context lasts."""
    now = clock.now()
    own = authority.serving([_NAME], Validity(now, now + LIFE))
    controller = IngressController(address, Certificates(own), random)
    component = Component(controller.manager(), objects=(ingress_class(),))
    try:
        async with run_component(server, component, clock, random):
            yield controller
    finally:
        await controller.close()
