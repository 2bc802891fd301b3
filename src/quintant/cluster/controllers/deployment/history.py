"""SetNewReplicaSetAnnotations: revisions of a Deployment: ReplicaSets, numbered by annotation.

A set that becomes the new one again gets the next number and remembers its earlier ones. Sets
without pods beyond the history limit are forgotten, the oldest revision first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quintant.api.apps import Deployment, ReplicaSet, ReplicaSetSpec
from quintant.api.meta import LabelSelector
from quintant.cluster.controllers.deployment.rollout import UNLIMITED, Rollout, age, size
from quintant.cluster.controllers.pods.templates import (
    HASH_LABEL,
    NAME_LENGTH,
    parse_template,
    template_hash,
    with_template_labels,
)
from quintant.core.object import ObjectMeta, replace
from quintant.core.owner import owned
from quintant.wire.digits import parse_digits

_PREFIX = "deployment.kubernetes.io"
REVISION = f"{_PREFIX}/revision"
REVISIONS = f"{_PREFIX}/revision-history"
DESIRED = f"{_PREFIX}/desired-replicas"
MAXIMUM = f"{_PREFIX}/max-replicas"
ROLLBACK = "deprecated.deployment.rollback.to"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OWN = {REVISION, REVISIONS, DESIRED, MAXIMUM, ROLLBACK, APPLIED}
"""Annotations that a set does not take over from its Deployment."""
_LONGEST = 2000
"""Characters of remembered revisions: about four hundred of them."""


def number(replicas: ReplicaSet, annotation: str) -> int | None:
    """What an annotation counts; None if it is not there, or no number."""
    return parse_digits(replicas.metadata.annotations.get(annotation, ""))


def next_revision(rollout: Rollout) -> int:
    """The number of the new set: beyond those of all old ones."""
    return 1 + max((number(each, REVISION) or 0 for each in rollout.old), default=0)


def size_annotations(rollout: Rollout) -> dict[str, str]:
    """The annotations by which a set knows the size of the whole."""
    return {DESIRED: str(rollout.desired), MAXIMUM: str(rollout.limit)}


def described_set(rollout: Rollout, new: ReplicaSet) -> ReplicaSet:
    """The new set as it should be described: annotations, revision, time to become available."""
    deployment, held = rollout.deployment, new.metadata.annotations
    annotations = {**held, **_inherited(deployment)}
    wanted, present = next_revision(rollout), held.get(REVISION, "")
    number_now = parse_digits(present or "0")
    if number_now is not None and number_now < wanted:
        annotations[REVISION] = str(wanted)
        if present:
            annotations[REVISIONS] = _remembered(held.get(REVISIONS, ""), present)
    meta = replace(new.metadata, annotations=annotations)
    spec = replace(new.spec, min_ready_seconds=deployment.spec.min_ready_seconds)
    return replace(new, metadata=meta, spec=spec)


def new_replica_set(rollout: Rollout, replicas: int) -> ReplicaSet:
    """The set of a new revision, so many pods large."""
    deployment = rollout.deployment
    wanted = deployment.spec
    name = template_hash(wanted.template, deployment.status.collision_count)
    label = {HASH_LABEL: name}
    spec = ReplicaSetSpec(
        replicas=replicas,
        min_ready_seconds=wanted.min_ready_seconds,
        selector=LabelSelector(
            match_labels={**wanted.selector.match_labels, **label},
            match_expressions=wanted.selector.match_expressions,
        ),
        template=with_template_labels(wanted.template, label),
    )
    return owned(ReplicaSet(metadata=_described(rollout, name), spec=spec), by=deployment)


def _described(rollout: Rollout, name: str) -> ObjectMeta:
    """The metadata of a new set, by the hash that it is named after."""
    deployment, meta = rollout.deployment, rollout.deployment.metadata
    revision = {REVISION: str(next_revision(rollout))}
    return ObjectMeta(
        name=f"{meta.name[: NAME_LENGTH - 1 - len(name)]}-{name}",
        namespace=meta.namespace,
        labels={**parse_template(deployment.spec.template).metadata.labels, HASH_LABEL: name},
        annotations={**_inherited(deployment), **revision, **size_annotations(rollout)},
    )


def sets_to_delete(rollout: Rollout) -> Sequence[ReplicaSet]:
    """The old sets that go: those beyond the history limit, unless they still have pods."""
    limit = rollout.deployment.spec.revision_history_limit
    alive = [each for each in rollout.old if not each.deleting]
    if limit is None or limit == UNLIMITED or len(alive) <= limit:
        return ()
    alive.sort(key=lambda each: (number(each, REVISION) or 0, age(each)))
    return [each for each in alive[: len(alive) - limit] if _settled(each)]


def _settled(replicas: ReplicaSet) -> bool:
    status = replicas.status
    seen = status.observed_generation >= replicas.metadata.generation
    return seen and not status.replicas and not size(replicas)


def _inherited(deployment: Deployment) -> Mapping[str, str]:
    held = deployment.metadata.annotations.items()
    return {name: value for name, value in held if name not in _OWN}


def _remembered(earlier: str, revision: str) -> str:
    """The earlier revisions of a set with one more, the oldest dropped when they are too many."""
    revisions = [*filter(None, earlier.split(",")), revision]
    while len(",".join(revisions)) > _LONGEST:
        revisions.pop(0)
    return ",".join(revisions)
