"""Keeps the volume claims: made once, grown in place, deleted with their instance unless retained.

A growth that the server refuses is asked for again after a while, and not with every pass. Nothing
is changed while a claim waits for its volume.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from quintant.api.events import PlannedEvent
from quintant.api.volume import PersistentVolumeClaim
from quintant.core.errors import ApiError, Conflict, NotFound, ServerError, TooManyRequests
from quintant.core.object import replace
from quintant.core.text import one_line
from quintant.operators.cosmos.act.service_control import adoptable
from quintant.operators.cosmos.builders.instances import MARK, instances
from quintant.operators.cosmos.builders.pvc_builder import (
    SourceCandidates,
    VolumeSource,
    build_claim,
    choose_source,
    claim_template,
)
from quintant.operators.cosmos.observe.observed import Observed
from quintant.runtime.apply import ChildUpdate, Policy, control
from quintant.runtime.cache.client import Client

RETRY_AFTER = timedelta(minutes=5)
_KEPT = Policy(mark=MARK, update="leave", delete="leave", adopts=adoptable)
_GONE = Policy(mark=MARK, update="leave", delete="foreground", adopts=adoptable)

ClaimUpdate = ChildUpdate[PersistentVolumeClaim, PersistentVolumeClaim]


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """What became of the claims."""

    progressing: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()
    events: tuple[PlannedEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class _Refusal:
    revision: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class PvcControl:
    """Makes, grows and deletes claims."""

    refusals: dict[str, _Refusal] = field(default_factory=dict)
    """By uid: what the server would not have, and when it was asked."""

    async def __call__(self, client: Client, observed: Observed) -> ClaimOutcome:
        """Bring the claims in line."""
        crd, sources = observed.crd, await self._sources(client, observed)
        known = {each.metadata.name: each for each in observed.claims}
        wanted = [
            build_claim(crd, each, known.get(each.claim), sources.get(each.claim, VolumeSource()))
            for each in instances(crd)
        ]
        policy = _KEPT if crd.spec.volume_retention_policy == "Retain" else _GONE
        desired = [each for each in wanted if each is not None]
        changes = await control(client, desired, observed.claims, by=crd, policy=policy)
        removed = changes.delete if policy is _GONE else ()
        fresh = frozenset(each.metadata.name for each in (*changes.create, *removed))
        made = {each.metadata.name for each in changes.create}
        told = (source.event for name, source in sources.items() if name in made)
        refused = await self._grow(client, observed, changes.update)
        return ClaimOutcome(
            progressing=bool(fresh or len(changes.update) > len(refused)),
            refused=refused,
            fresh=fresh,
            events=tuple(event for event in told if event is not None),
        )

    async def _sources(self, client: Client, observed: Observed) -> dict[str, VolumeSource]:
        """What new volumes are filled from, by claim."""
        crd, known = observed.crd, {each.metadata.name for each in observed.claims}
        found = {}
        for instance in instances(crd):
            if instance.claim in known:
                continue
            template, claims = claim_template(crd, instance), {}
            source = template.data_source
            if source is not None and source.kind == "PersistentVolumeClaim":
                live = await client.find(
                    PersistentVolumeClaim, source.name, crd.metadata.namespace, live=True
                )
                claims = {source.name: live} if live is not None else {}
            there = SourceCandidates(observed.snapshots, claims)
            found[instance.claim] = choose_source(template, instance, there)
        return found

    async def _grow(
        self, client: Client, observed: Observed, updates: tuple[ClaimUpdate, ...]
    ) -> dict[str, str]:
        """Change claims in place; what the server refused, by claim."""
        if any(each.status.phase != "Bound" and not each.deleting for each in observed.claims):
            return {}
        refused = {}
        for update in updates:
            said = await self._patched(client, update, observed.now)
            if said:
                refused[update.have.metadata.name] = said
        return refused

    async def _patched(self, client: Client, update: ClaimUpdate, now: datetime) -> str:
        uid, wanted = update.have.metadata.uid, MARK.of(update.want)
        before = self.refusals.get(uid)
        if before is not None and before.revision == wanted and now - before.at < RETRY_AFTER:
            return before.text
        try:
            await client.patch(_changed(update), since=update.have)
        except (Conflict, NotFound, ServerError, TooManyRequests):
            raise  # it is no answer to what was asked
        except ApiError as error:
            text = one_line(error.message)
            self.refusals[uid] = _Refusal(wanted, now, text)
            return text
        self.refusals.pop(uid, None)
        return ""


def _changed(update: ClaimUpdate) -> PersistentVolumeClaim:
    """A claim with the metadata and the size that it should have; all else of it is fixed."""
    have, want = update.have, update.want
    meta = replace(
        have.metadata,
        labels={**have.metadata.labels, **want.metadata.labels},
        annotations={**have.metadata.annotations, **want.metadata.annotations},
        owner_references=want.metadata.owner_references,
    )
    return replace(have, metadata=meta, spec=replace(have.spec, resources=want.spec.resources))
