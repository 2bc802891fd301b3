"""Brings the objects of a device in line: what is wanted is applied, what is not is deleted.

Ours is what carries the uid of this very device; a name that another holds is not taken. The
ConfigMap is written first, then the Deployment, then the Service. Pods that hang on a lost node are
deleted by force once their Deployment leads elsewhere: a Deployment that replaces its pods waits
for the old one to end. No step waits for another to go well. A pass that finds everything as it
should be writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.api.core import ConfigMap, Service
from quintant.core.json_pointer import escape_step
from quintant.core.object import K, Object, ObjectMeta, Request, replace
from quintant.core.owner import OWNER, OWNER_UID, owner_name
from quintant.core.resource import resource_of
from quintant.operators.shifu.act.steps import ChildSteps
from quintant.operators.shifu.api.names import (
    DEVICE_LABEL,
    DEVICE_NAMESPACE_LABEL,
    DEVICE_UID_LABEL,
    MANAGED_BY,
    REVISION_LABEL,
)
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.outcome import WriteOutcome
from quintant.operators.shifu.observed.views import (
    ComposedObject,
    ShifuConfig,
    ShifuDeployment,
    ShifuService,
)
from quintant.operators.shifu.plan.children import WantedChildren
from quintant.operators.shifu.rules.hints import Device
from quintant.runtime.apply import Policy, RevisionMark, control, data_checksum
from quintant.runtime.cache.client import Client

_LABELS = (
    MANAGED_BY, DEVICE_LABEL, DEVICE_NAMESPACE_LABEL, DEVICE_UID_LABEL, REVISION_LABEL, OWNER_UID,
)  # fmt: skip


def _drifted(have: Object, want: Object) -> bool:
    """Whether what the views hold of an object was changed by another."""
    if isinstance(have, ShifuDeployment):
        return have.drifted
    if isinstance(have, ShifuConfig) and isinstance(want, ConfigMap):
        return have.checksum != data_checksum(want.data)
    return isinstance(have, ShifuService) and have.taken


POLICY = Policy(
    mark=RevisionMark(key=REVISION_LABEL, carrier="label"),
    drifted=_drifted,
    delete="leave",
    across_namespaces=True,
)


async def write_children(
    client: Client, observed: Observed, wanted: WantedChildren
) -> WriteOutcome:
    """Make the objects of a device as they should be, each whatever becomes of the others.

    What the server will not take, however often it is tried, is in the outcome. What may go well
    next time is raised after all was tried.
    """
    device, steps = observed.device, ChildSteps()
    async with steps.step():
        await _write(client, device, wanted.config, observed.generated)
    async with steps.step():
        await _write(client, device, wanted.deployment, observed.deployment)
    async with steps.step():
        for pod in wanted.stuck:
            await client.delete(pod, grace=0)
    async with steps.step():
        await delete_orphans(client, type(device), device.key, observed.stale)
    async with steps.step():
        await _write(client, device, wanted.service, observed.service)
    async with steps.step():
        await delete_objects(client, wanted.surplus)
    return steps.outcome()


async def delete_orphans(
    client: Client, kind: type[Object], key: Request, objects: Iterable[ComposedObject]
) -> None:
    """Delete what belonged to a device that is no more, after a look at the server.

    A cache that is behind orphans nothing: what belongs to the device that is there now stays.
    """
    found = tuple(objects)
    if found:
        live = await client.find(kind, *key, live=True)
        uid = live.metadata.uid if live is not None and not live.deleting else ""
        await delete_objects(client, (each for each in found if each.owner != uid))


async def delete_objects(client: Client, objects: Iterable[Object]) -> None:
    """Delete what a device has no more use for; that it is gone already is no error."""
    for each in objects:
        if isinstance(each, ShifuService) and each.taken:
            await _disown(client, each)
        else:
            await client.delete(each)


async def _write(
    client: Client, device: Device, want: K | None, have: ComposedObject | None
) -> None:
    if want is None:
        return
    existing = () if have is None else (_with_owner(have, device),)
    await control(client, (want,), existing, by=device, policy=POLICY)


def _with_owner(child: ComposedObject, device: Device) -> ComposedObject:
    """A child with the labels and annotations by which it is ours: its view has them as fields."""
    owner = owner_name(resource_of(type(device)), *device.key)
    labels = {OWNER_UID: child.owner, REVISION_LABEL: child.revision}
    return replace(
        child, metadata=replace(child.metadata, labels=labels, annotations={OWNER: owner})
    )


async def _disown(client: Client, service: ShifuService) -> None:
    """Take our labels off a Service that a user has put in the place of ours."""
    live = await client.find(Service, *service.key, live=True)
    if live is None:
        return
    version = live.metadata.resource_version
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version}
    ]
    operations += [
        {"op": "remove", "path": f"/metadata/labels/{escape_step(label)}"}
        for label in _LABELS
        if label in live.metadata.labels
    ]
    meta = ObjectMeta(name=live.metadata.name, namespace=live.metadata.namespace)
    await client.json_patch(Service, meta, operations)
