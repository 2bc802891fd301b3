"""Claims are filled once, grow together, and a refused growth is asked for again after a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from quintant.api.events import PlannedEvent
from quintant.api.volume import PersistentVolumeClaim, PersistentVolumeClaimStatus
from quintant.core.object import replace as replaced
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.pvc_builder import VolumeSource
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.plan.claims import (
    ClaimChanges,
    ClaimUpdate,
    choose_sources,
    claim_outcome,
    grown_claim,
    note_growth,
    plan_growth,
    source_claims,
    wanted_claims,
)
from quintant.runtime.apply import marked
from unit.operators.cosmos.observations import NOW, claim, observed

SOURCE = {"dataSource": {"kind": "PersistentVolumeClaim", "name": "seed"}}
EVENT = PlannedEvent("Normal", "AutoDataSource", "filled")


def update(at: int, size: str = "200Gi") -> ClaimUpdate:
    have = claim(at)
    meta = replaced(have.metadata, uid=f"claim-{at}")
    return ClaimUpdate(replaced(have, metadata=meta), marked(claim(at, size), MARK))


def seen(*claims: PersistentVolumeClaim, **given: Any) -> Observed:
    return observed("++", claims=claims, **given)


def test_the_source_is_asked_for_once_and_only_for_new_claims() -> None:
    assert source_claims(seen(claim=SOURCE)) == ("seed",)
    assert source_claims(seen(claim(0), claim=SOURCE)) == ("seed",)
    assert source_claims(seen(claim(0), claim(1), claim=SOURCE)) == ()
    assert source_claims(seen()) == ()


def test_new_claims_are_filled_from_a_source_that_is_there() -> None:
    given = seen(claim(0), claim=SOURCE)
    sources = choose_sources(given, {"seed": claim(7)})
    assert list(sources) == ["pvc-hub-1"]
    assert sources["pvc-hub-1"].data_source is not None
    missing = choose_sources(given, {})["pvc-hub-1"]
    assert missing.event is not None
    assert missing.event.reason == "DataSourceGetPVC"


def test_every_instance_has_a_claim_unless_it_is_disabled_with_it() -> None:
    disabled = {"instanceOverrides": {"hub-0": {"disable": "All"}}}
    assert [each.metadata.name for each in wanted_claims(seen(**disabled), {})] == ["pvc-hub-1"]


def test_nothing_grows_while_a_claim_waits_for_its_volume() -> None:
    unbound = replaced(claim(1), status=PersistentVolumeClaimStatus(phase="Pending"))
    assert plan_growth(seen(claim(0), claim(1)), [update(0)], {}) == (update(0),)
    assert plan_growth(seen(claim(0), unbound), [update(0)], {}) == ()


def test_a_refused_growth_is_asked_for_again_after_a_while_or_if_it_is_another() -> None:
    refusals = note_growth({}, update(0), "forbidden", NOW)
    given = seen(claim(0), claim(1))
    assert plan_growth(given, [update(0), update(1)], refusals) == (update(1),)
    assert plan_growth(given, [update(0, "300Gi")], refusals) == (update(0, "300Gi"),)
    later = replace(given, now=NOW + timedelta(minutes=5))
    assert plan_growth(later, [update(0)], refusals) == (update(0),)


def test_a_growth_that_is_accepted_ends_a_refusal() -> None:
    refusals = note_growth({}, update(0), "forbidden", NOW)
    assert note_growth(refusals, update(0), "", NOW) == {}


def test_what_became_of_claims_is_reported() -> None:
    given = seen(claim(0), claim(1), volumeRetentionPolicy="Retain")
    changes = ClaimChanges(create=(claim(2),), update=(update(0),), delete=(claim(1),))
    refusals = note_growth({}, update(0), "forbidden", NOW)
    sources = {"pvc-hub-2": VolumeSource(event=EVENT), "pvc-hub-3": VolumeSource(event=EVENT)}
    outcome = claim_outcome(given, changes, sources, refusals)
    assert outcome.refused == {"pvc-hub-0": "forbidden"}
    assert outcome.fresh == {"pvc-hub-2"}
    assert outcome.events == (EVENT,)
    assert outcome.progressing
    deleting = claim_outcome(seen(claim(0)), changes, {}, refusals)
    assert deleting.fresh == {"pvc-hub-1", "pvc-hub-2"}


def test_a_refusal_alone_is_no_progress() -> None:
    refusals = note_growth({}, update(0), "forbidden", NOW)
    changes = ClaimChanges(update=(update(0),))
    assert not claim_outcome(seen(claim(0)), changes, {}, refusals).progressing
    assert claim_outcome(seen(claim(0)), changes, {}, {}).progressing


def test_a_grown_claim_keeps_what_cannot_be_changed() -> None:
    grown = grown_claim(update(0))
    assert grown.spec.resources.requests["storage"] == "200Gi"
    assert grown.metadata.uid == "claim-0"
    assert grown.spec.storage_class_name == claim(0).spec.storage_class_name
