"""NewControllerRevision, EqualRevision: the templates that a workload had, and when.

A revision holds the template as a patch that makes the workload what it was. A template that comes
back gets its old revision with the next number. What no pod has and nobody needs for going back
is forgotten, the oldest first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from quintant.api.apps import ControllerRevision
from quintant.cluster.controllers.pods.templates import parse_template, short_hash
from quintant.core.errors import AlreadyExists
from quintant.core.object import Object, ObjectMeta, Opaque, replace
from quintant.core.owner import controller_of, owned
from quintant.runtime.reconcile.context import Context

HASH = "controller-revision-hash"
"""The label by which a pod tells its revision, and that of a DaemonSet its hash."""
STATEFUL_HASH = "controller.kubernetes.io/hash"
PREFIX_LENGTH = 223
"""Characters of the owner's name in a revision's, so that a hash fits behind it."""
_REMEMBERED = 1024
_REPLACE = {"$patch": "replace"}


class Recorded(Struct, frozen=True):
    """The revision of a template, and how many names were taken by others before it got one."""

    revision: ControllerRevision
    collisions: int | None


def sorted_revisions(revisions: Iterable[ControllerRevision]) -> list[ControllerRevision]:
    """Revisions by number, the first one first."""
    return sorted(revisions, key=_age)


def template_of(revision: ControllerRevision) -> Opaque:
    """The template that a revision holds."""
    return _restored(revision.data)


@lru_cache(_REMEMBERED)
def patch_of(template: Opaque) -> Opaque:
    """The patch that puts a template back."""
    value = {"spec": {"template": {**template.value, **_REPLACE}}}
    return Opaque(msgspec.json.encode(value, order="sorted"))


def equal_revisions(
    revisions: Iterable[ControllerRevision], template: Opaque
) -> list[ControllerRevision]:
    """The revisions that hold a template, by number."""
    wanted = patch_of(template)
    return sorted_revisions(each for each in revisions if _sorted(each.data) == wanted)


async def record(
    ctx: Context[Any],
    template: Opaque,
    revisions: Sequence[ControllerRevision],
    collisions: int | None,
    label: str,
) -> Recorded:
    """The revision of the owner's template, with the highest number; made if there is none.

    `label` carries its hash. A hash whose name is taken by another revision counts as a collision.
    """
    known = equal_revisions(revisions, template)
    others = [each.revision for each in revisions if not known or each is not known[-1]]
    number = 1 + max(others, default=0)
    if not known:
        return await _new(ctx, template, number, collisions, label)
    last = known[-1]
    if last.revision < number:
        last = await ctx.client.patch(replace(last, revision=number), since=last)
    return Recorded(last, collisions)


async def _new(
    ctx: Context[Any], template: Opaque, number: int, collisions: int | None, label: str
) -> Recorded:
    while True:
        wanted = _made(ctx.obj, template, number, collisions, label)
        try:
            return Recorded(await ctx.client.create(wanted), collisions)
        except AlreadyExists:
            there = await ctx.client.find(ControllerRevision, *wanted.key, live=True)
            if there is not None and _ours(there, ctx.obj) and equal_revisions([there], template):
                return Recorded(there, collisions)
            collisions = (collisions or 0) + 1


def revisions_to_delete(
    revisions: Iterable[ControllerRevision], alive: Collection[str], limit: int | None
) -> list[ControllerRevision]:
    """The revisions that go: beyond the limit, and without a name or hash that is `alive`."""
    past = [each for each in sorted_revisions(revisions) if not _marks(each) & set(alive)]
    return past[: len(past) - limit] if limit is not None and limit < len(past) else []


def _marks(revision: ControllerRevision) -> set[str]:
    labels = revision.metadata.labels
    return {revision.metadata.name, *filter(None, (labels.get(HASH), labels.get(STATEFUL_HASH)))}


def _made(
    owner: Object, template: Opaque, number: int, collisions: int | None, label: str
) -> ControllerRevision:
    data = patch_of(template)
    name, meta = short_hash(data.raw, collisions), owner.metadata
    made = ControllerRevision(
        metadata=ObjectMeta(
            name=f"{meta.name[:PREFIX_LENGTH]}-{name}",
            namespace=meta.namespace,
            labels={**parse_template(template).metadata.labels, label: name},
            annotations=meta.annotations,
        ),
        data=data,
        revision=number,
    )
    return owned(made, by=owner)


def _ours(revision: ControllerRevision, owner: Object) -> bool:
    held = controller_of(revision)
    return held is not None and held.uid == owner.metadata.uid


def _age(revision: ControllerRevision) -> tuple[int, str, str]:
    meta = revision.metadata
    return revision.revision, meta.creation_timestamp or "", meta.name


@lru_cache(_REMEMBERED)
def _sorted(data: Opaque) -> Opaque:
    return Opaque(msgspec.json.encode(data.value, order="sorted"))


@lru_cache(_REMEMBERED)
def _restored(data: Opaque) -> Opaque:
    template = data.value["spec"]["template"]
    return Opaque.of({key: value for key, value in template.items() if key not in _REPLACE})
