"""Brings the objects of a device in line: what is wanted is applied, what is not is deleted.

Ours is what carries the uid of this very device. A name that somebody else holds is not taken. The
ConfigMap is written first, then the Deployment, then the Service; pods that hang on a lost node are
deleted by force after their Deployment leads elsewhere, for a Deployment that replaces its pods
waits for the old one to end. A pass that finds everything as it should be writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.api.core import Service
from quintant.core.errors import Conflict, Status, Terminal
from quintant.core.object import K, Object, ObjectMeta, replace
from quintant.core.resource import resource_of
from quintant.operators.shifu.api.names import (
    DEVICE_LABEL,
    DEVICE_NAMESPACE_LABEL,
    DEVICE_UID_LABEL,
    MANAGED_BY,
    MANAGER,
    REVISION_LABEL,
)
from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.observe.views import ShifuService
from quintant.operators.shifu.plan.children import WantedChildren
from quintant.runtime.apply import NAME_TAKEN, RevisionMark, marked
from quintant.runtime.cache.client import Client

MARK = RevisionMark(key=REVISION_LABEL, where="label")
_LABELS = (MANAGED_BY, DEVICE_LABEL, DEVICE_NAMESPACE_LABEL, DEVICE_UID_LABEL, REVISION_LABEL)


async def write_children(client: Client, observed: Observed, wanted: WantedChildren) -> None:
    """Make the objects of a device as they should be."""
    await delete_objects(client, observed.stale)
    if wanted.config is not None:
        await _write(client, wanted.config, observed.generated, observed.device)
    if wanted.deployment is not None:
        have = observed.deployment
        moved = have is not None and (have.node != wanted.node or have.stopped)
        await _write(client, wanted.deployment, have, observed.device, anew=moved)
    if wanted.service is not None:
        have_service = observed.service
        taken = have_service is not None and have_service.taken
        await _write(client, wanted.service, have_service, observed.device, anew=taken)
    for pod in wanted.stuck:
        await client.delete(pod, grace=0)
    await _delete_surplus(client, wanted.surplus)


async def delete_objects(client: Client, objects: Iterable[Object]) -> None:
    """Delete what belonged to a device that is no more; that it is gone already is no error."""
    await _delete_surplus(client, objects)


async def _delete_surplus(client: Client, objects: Iterable[Object]) -> None:
    for each in objects:
        if isinstance(each, ShifuService) and each.taken:
            await _disown(client, each)
        else:
            await client.delete(each)


async def _write(
    client: Client, want: K, have: Object | None, device: Object, *, anew: bool = False
) -> None:
    desired = marked(want, MARK)
    if have is None:
        await _check_name(client, desired, device)
        await client.apply(desired, force=False)
    elif anew or MARK.of(have) != MARK.of(desired):
        meta = replace(desired.metadata, uid=have.metadata.uid)
        await client.apply(replace(desired, metadata=meta))


async def _check_name(client: Client, want: Object, device: Object) -> None:
    """Only what is ours is written over: apply cannot be told to create only."""
    held = await client.find(type(want), *want.key, live=True)
    if held is None:
        return
    uid = held.metadata.labels.get(DEVICE_UID_LABEL)
    if uid == device.metadata.uid and not held.deleting:
        return
    what = f"{resource_of(type(want)).kind} {want.key} exists"
    if held.deleting or held.metadata.labels.get(MANAGED_BY) == MANAGER:
        # That of an earlier namesake: it goes, and its name is free then.
        if not held.deleting:
            await client.delete(held)
        raise Conflict(Status(code=409, reason="Conflict", message=f"{what}, and is going"))
    raise Terminal(
        f"{what} and is not ours: rename the device, or remove that object", reason=NAME_TAKEN
    )


async def _disown(client: Client, service: ShifuService) -> None:
    """Take our labels off a Service that a user has put in the place of ours."""
    live = await client.find(Service, *service.key, live=True)
    if live is None:
        return
    operations: list[dict[str, Any]] = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": live.metadata.resource_version}
    ]
    operations += [
        {"op": "remove", "path": f"/metadata/labels/{label.replace('/', '~1')}"}
        for label in _LABELS
        if label in live.metadata.labels
    ]
    meta = ObjectMeta(name=live.metadata.name, namespace=live.metadata.namespace)
    await client.json_patch(Service, meta, operations)
