"""A console inside a cluster."""

from __future__ import annotations

from quintant.api.apps import Deployment
from quintant.api.core import Namespace, PodTemplateSpec, Service, ServiceAccount
from quintant.console.manifests import NAMESPACE, console_manifests
from quintant.console.role import NAME
from quintant.core import codec
from quintant.core.object import Object
from quintant.testing import InProcessCluster
from testbeds.console import systems

PARTS = console_manifests([each.panel for each in systems()], "quintant:0.1.0")
KINDS: dict[str, type[Object]] = {
    each.__name__: each for each in (Namespace, ServiceAccount, Deployment, Service)
}


async def test_everything_can_be_applied(cluster: InProcessCluster) -> None:
    for objects in PARTS.values():
        for plain in objects:
            if plain["kind"] in KINDS:
                await cluster.client.apply(codec.from_plain(KINDS[plain["kind"]], plain))
    found = await cluster.get(Deployment, NAME, NAMESPACE)
    service = await cluster.get(Service, NAME, NAMESPACE)
    pod = found.spec.template.to(PodTemplateSpec)
    assert service.spec.selector == pod.metadata.labels
    assert pod.spec.service_account_name == NAME


def test_it_asks_who_users_are_since_others_reach_it() -> None:
    (plain,) = PARTS["deployment"]
    (container,) = plain["spec"]["template"]["spec"]["containers"]
    assert "--kubernetes-auth" in container["args"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
