"""The sample of every operator, on nodes that are there already.

Two are the demo's own. A chain is shown without copies of its volumes, for which a cluster needs
a CSI driver, and without load balancers; devices without the nodes that only the embedded cluster
can make of an object; and the simulator that makes clusters has an image with what that needs.
"""

import asyncio
import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from foreign.errors import Report
from quintant.demo.convergence import LOOK_SECONDS, not_ready_reasons
from quintant.operators import OPERATORS
from quintant.operators.cosmos.sample import full_node
from quintant.operators.shifu.sample.caller import call_devices
from quintant.operators.shifu.sample.floor import FLOOR_LABELS, connected_devices, programs
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress
from realcluster.images.archive import WITH_CLUSTER
from realcluster.install import namespace
from realcluster.kubectl import Kubectl

PROGRESS_SECONDS = 2.0
_FLOOR = ",".join(f"{name}={value}" for name, value in FLOOR_LABELS.items())
"""The label of nodes that devices of shifu's sample ask for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sample."""

    done: bool
    message: str
    seconds: float
    reasons: tuple[str, ...] = ()
    """What is wrong with its pods, if it is not done."""


def sample_of(operator: str) -> Sample:
    """The sample of an operator, as it can be applied to any cluster."""
    sample: Sample = import_module(f"quintant.operators.{operator}.sample").SAMPLE
    if operator == "cosmos":
        return replace(sample, manifests=(_without_load_balancers(full_node()),))
    if operator == "shifu":
        settings = {name: value for name, value in sample.settings.items() if "EDGEMAP" in name}
        manifests = (*programs(), *connected_devices())
        return replace(sample, manifests=manifests, look=_devices, settings=settings)
    if operator == "infra":
        return replace(sample, manifests=tuple(map(_making_clusters, sample.manifests)))
    return sample


def _without_load_balancers(chain: dict[str, Any]) -> dict[str, Any]:
    """A chain whose nodes wait for no address from outside, which nothing here would give them."""
    return {**chain, "spec": {**chain["spec"], "service": {"maxP2PExternalAddresses": 0}}}


def _making_clusters(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A manifest with the simulator's image that can make clusters."""
    if manifest["kind"] != "Deployment":
        return manifest
    found: dict[str, Any] = copy.deepcopy(dict(manifest))
    for container in found["spec"]["template"]["spec"]["containers"]:
        container["image"] = WITH_CLUSTER
    return found


async def _devices(client: Client) -> SampleProgress:
    progress, _ = await call_devices(client)
    return progress


SAMPLES: Mapping[str, Sample] = {operator: sample_of(operator) for operator in OPERATORS}


async def apply_sample(kubectl: Kubectl, sample: Sample) -> None:
    """Apply a sample in namespaces that refuse whatever is not `restricted`."""
    await kubectl("label", "nodes", "--all", "--overwrite", _FLOOR)
    await kubectl.apply(map(namespace, sample.namespaces))
    await kubectl.apply(sample.manifests)


async def look_at(operator: str, client: Client, report: Report, within: float) -> Outcome:
    """Look until a sample is done, or for so many seconds."""
    sample, began = SAMPLES[operator], time.monotonic()
    reported, progress = began, SampleProgress(False, "not looked at")
    while (now := time.monotonic()) - began < within:
        progress = await sample.look(client)
        if progress.done:
            return Outcome(True, progress.message, time.monotonic() - began)
        if now - reported >= PROGRESS_SECONDS:
            report(f"{operator}: {progress.message}, {now - began:.0f} s")
            reported = now
        await asyncio.sleep(LOOK_SECONDS)
    namespaces = (OPERATORS[operator].namespace, *sample.namespaces)
    reasons = await not_ready_reasons(client, namespaces)
    return Outcome(False, progress.message, within, reasons)
