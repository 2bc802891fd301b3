"""Objects that cannot come true, one of each operator that has a spec which nobody can fulfil."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from quintant.operators.cosmos.sample import full_node
from quintant.operators.infra.sample import NAMESPACE as INFRA
from quintant.operators.infra.sample import template
from quintant.operators.portal.builders.deployment import deployment_name
from quintant.operators.portal.sample import NAMESPACE as PORTAL
from quintant.operators.shifu.api.names import DEVICES
from quintant.runtime.manager.sample import restricted
from quintant.version import QUINTANT
from realcluster.samples import SAMPLES

BROKEN = "broken"

Plain = dict[str, Any]


def broken_objects() -> list[Plain]:
    """One object of each operator that has a spec which nobody can fulfil."""
    chain: Any = copy.deepcopy(full_node())
    chain["metadata"]["name"] = BROKEN
    chain["spec"]["chain"]["config"]["overrides"] = "this is [ no TOML"
    device = ("shifu.edgenesis.io/v1alpha1", "EdgeDevice", DEVICES)
    expose: Any = copy.deepcopy(sample_object("portal", "PortalExpose"))
    expose["metadata"]["name"] = expose["spec"]["app"]["name"] = BROKEN
    empty: Any = template(workers=0)
    del empty["topology_template"]["node_templates"]
    return [
        chain,
        _named(*device, {}),
        strangers_deployment(),
        expose,
        _named("infra.quintant.dev/v1alpha1", "Cluster", INFRA, {"tosca": empty}),
    ]


def strangers_deployment() -> Plain:
    """It has the name that the tunnel of a PortalExpose needs."""
    labels = {"app": "stranger"}
    container = {"name": "echo", "image": f"quintant:{QUINTANT}", "args": ["agent", "echo"]}
    pod = {"metadata": {"labels": labels}, "spec": restricted({"containers": [container]})}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": pod}
    found = _named("apps/v1", "Deployment", PORTAL, spec)
    found["metadata"]["name"] = deployment_name(BROKEN)
    return found


def _named(version: str, kind: str, namespace: str, spec: Plain) -> Plain:
    meta = {"name": BROKEN, "namespace": namespace}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def sample_object(operator: str, kind: str) -> Mapping[str, Any]:
    """The object of a kind in a sample."""
    return next(each for each in SAMPLES[operator].manifests if each["kind"] == kind)
