"""What claims there should be, what they are filled from, and which grow now. Pure.

    sources to ask for ──ask──> sources ──> claims ──write──> growth ──write──> outcome

A growth that the server refuses is asked for again after a while, and not with every reconcile.
No claim grows while one waits for its volume.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from quintant.api.volume import PersistentVolumeClaim
from quintant.core.object import replace
from quintant.operators.cosmos.builders.instances import MARK, Instance, instances
from quintant.operators.cosmos.builders.pvc_builder import (
    SourceCandidates,
    VolumeSource,
    build_claim,
    choose_source,
    claim_template,
)
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.observed.outcome import ClaimOutcome, ClaimRefusal
from quintant.runtime.apply import ChildChanges, ChildUpdate

RETRY_AFTER = timedelta(minutes=5)
ClaimUpdate = ChildUpdate[PersistentVolumeClaim, PersistentVolumeClaim]
ClaimChanges = ChildChanges[PersistentVolumeClaim, PersistentVolumeClaim]
Refusals = Mapping[str, ClaimRefusal]
"""What the server refused, by the uid of claims."""


def source_claims(observed: Observed) -> tuple[str, ...]:
    """The claims to ask the server for: new volumes are filled from them."""
    sources = (claim_template(observed.full_node, each).data_source for each in _new(observed))
    names = (
        each.name for each in sources if each is not None and each.kind == "PersistentVolumeClaim"
    )
    return tuple(dict.fromkeys(names))


def choose_sources(
    observed: Observed, claims: Mapping[str, PersistentVolumeClaim]
) -> dict[str, VolumeSource]:
    """What new volumes are filled from, by claim; `claims` are those of `source_claims`."""
    candidates = SourceCandidates(observed.snapshots, claims)
    return {
        each.claim: choose_source(claim_template(observed.full_node, each), each, candidates)
        for each in _new(observed)
    }


def wanted_claims(
    observed: Observed, sources: Mapping[str, VolumeSource]
) -> list[PersistentVolumeClaim]:
    """The claims that there should be."""
    known = {each.metadata.name: each for each in observed.claims}
    built = (
        build_claim(
            observed.full_node,
            each,
            known.get(each.claim),
            sources.get(each.claim, VolumeSource()),
        )
        for each in instances(observed.full_node)
    )
    return [each for each in built if each is not None]


def retains_claims(observed: Observed) -> bool:
    """Whether the claims of removed instances are kept."""
    return observed.full_node.spec.volume_retention_policy == "Retain"


def plan_growth(
    observed: Observed, updates: Sequence[ClaimUpdate], refusals: Refusals
) -> tuple[ClaimUpdate, ...]:
    """The claims to change now: none while one is unbound, nor one that was refused lately."""
    if _waiting(observed):
        return ()
    return tuple(each for each in updates if _refusal(each, refusals, observed.now) is None)


def note_growth(refusals: Refusals, update: ClaimUpdate, message: str, now: datetime) -> Refusals:
    """The refusals after one answer of the server; an empty message is none."""
    uid = update.have.metadata.uid
    others = {key: each for key, each in refusals.items() if key != uid}
    return others | {uid: ClaimRefusal(MARK.of(update.want), now, message)} if message else others


def claim_outcome(
    observed: Observed,
    changes: ClaimChanges,
    sources: Mapping[str, VolumeSource],
    refusals: Refusals,
) -> ClaimOutcome:
    """What became of the claims, once those that should grow were changed."""
    removed = () if retains_claims(observed) else changes.delete
    created = {each.metadata.name for each in changes.create}
    fresh = frozenset(created | {each.metadata.name for each in removed})
    events = (source.event for name, source in sources.items() if name in created)
    refused = {} if _waiting(observed) else _refused(changes.update, refusals, observed.now)
    return ClaimOutcome(
        progressing=bool(fresh or len(changes.update) > len(refused)),
        refused=refused,
        fresh=fresh,
        surplus=tuple(removed),
        events=tuple(event for event in events if event is not None),
    )


def grown_claim(update: ClaimUpdate) -> PersistentVolumeClaim:
    """A claim with the metadata and the size that it should have; all else of it is fixed."""
    have, want = update.have, update.want
    meta = replace(
        have.metadata,
        labels={**have.metadata.labels, **want.metadata.labels},
        annotations={**have.metadata.annotations, **want.metadata.annotations},
        owner_references=want.metadata.owner_references,
    )
    return replace(have, metadata=meta, spec=replace(have.spec, resources=want.spec.resources))


def _new(observed: Observed) -> list[Instance]:
    """The instances that have no claim yet."""
    known = {each.metadata.name for each in observed.claims}
    return [each for each in instances(observed.full_node) if each.claim not in known]


def _waiting(observed: Observed) -> bool:
    return any(each.status.phase != "Bound" and not each.deleting for each in observed.claims)


def _refused(updates: Sequence[ClaimUpdate], refusals: Refusals, now: datetime) -> dict[str, str]:
    found = ((each.have.metadata.name, _refusal(each, refusals, now)) for each in updates)
    return {name: refusal.message for name, refusal in found if refusal is not None}


def _refusal(update: ClaimUpdate, refusals: Refusals, now: datetime) -> ClaimRefusal | None:
    """The answer to this very change, if it is young enough to hold."""
    known = refusals.get(update.have.metadata.uid)
    if known is None or known.revision != MARK.of(update.want) or now - known.at >= RETRY_AFTER:
        return None
    return known
