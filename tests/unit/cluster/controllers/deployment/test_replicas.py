"""Promises of quintant.cluster.controllers.deployment.replicas."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.api.apps import (
    Deployment,
    DeploymentSpec,
    DeploymentStatus,
    DeploymentStrategy,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    RollingUpdateDeployment,
)
from quintant.api.quantity import IntOrString
from quintant.cluster.controllers.deployment.history import (
    DESIRED,
    MAXIMUM,
    REVISION,
    new_replica_set,
    size_annotations,
)
from quintant.cluster.controllers.deployment.replicas import RolloutStep, next_step
from quintant.cluster.controllers.deployment.rollout import Rollout, size
from quintant.core.object import ObjectMeta, Opaque, replace


def template(number: int) -> Opaque:
    return Opaque.of({"metadata": {"labels": {"app": "a"}}, "spec": {"v": number}})


def deployment(
    replicas: int, surge: IntOrString = 1, missing: IntOrString = 0, **spec: Any
) -> Deployment:
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=missing)
    return Deployment(
        metadata=ObjectMeta(name="d", namespace="n", uid="d", generation=1),
        spec=DeploymentSpec(
            replicas=replicas,
            template=template(9),
            strategy=DeploymentStrategy(type="RollingUpdate", rolling_update=rolling),
            **spec,
        ),
    )


def revision(
    number: int, replicas: int, working: int | None = None, *, of: int = 0, limit: int = 0
) -> ReplicaSet:
    """A set; `working` are its available pods, `of` and `limit` what it knows of the whole."""
    notes = {REVISION: str(number), **({DESIRED: str(of), MAXIMUM: str(limit)} if of else {})}
    count = replicas if working is None else working
    return ReplicaSet(
        metadata=ObjectMeta(
            name=f"s{number}", uid=f"s{number}", annotations=notes, generation=1,
            creation_timestamp=f"2026-01-01T00:00:{number:02}Z",
        ),
        spec=ReplicaSetSpec(replicas=replicas, template=template(number)),
        status=ReplicaSetStatus(
            replicas=replicas, available_replicas=count, observed_generation=1
        ),
    )  # fmt: skip


def sizes(told: RolloutStep) -> dict[str, int]:
    return {scale.replicas.metadata.name: scale.size for scale in told.scales}


def step_of(it: Deployment, *sets: ReplicaSet) -> RolloutStep:
    return next_step(Rollout.of(it, sets))


@pytest.mark.parametrize(
    ("surge", "missing", "created"), [(1, 0, 1), ("25%", 0, 3), (0, 1, 0), ("100%", 0, 10)]
)
def test_new_set_begins_as_large_as_the_surge_allows(
    surge: IntOrString, missing: IntOrString, created: int
) -> None:
    assert step_of(deployment(10, surge, missing), revision(1, 10)) == RolloutStep(create=created)


def test_first_set_begins_at_full_size() -> None:
    assert step_of(deployment(3)) == RolloutStep(create=3)


def test_new_set_grows_before_old_ones_shrink() -> None:
    told = step_of(deployment(10, 3, 2), revision(1, 8), revision(9, 3, 3))
    assert sizes(told) == {"s9": 5}


def test_old_sets_shrink_by_what_the_new_one_can_spare() -> None:
    told = step_of(deployment(10, 3, 2), revision(1, 10), revision(9, 3, 3))
    assert sizes(told) == {"s1": 5}


def test_broken_old_pods_go_first_and_cost_nothing() -> None:
    it = deployment(10, 0, 2)
    told = step_of(it, revision(1, 4, 4), revision(2, 4, 0), revision(9, 2, 2))
    assert sizes(told) == {"s2": 2}


def test_old_pods_do_not_pay_for_new_ones_that_do_not_work() -> None:
    told = step_of(deployment(10, 3, 2), revision(1, 8, 7), revision(9, 5, 0))
    assert told == RolloutStep()


def test_rollover_takes_from_the_stuck_rollout() -> None:
    told = step_of(deployment(3), revision(1, 3), revision(2, 1, 0), revision(9, 0))
    assert sizes(told) == {"s2": 0}


def test_set_that_is_too_large_is_cut() -> None:
    assert sizes(step_of(deployment(2), revision(9, 5))) == {"s9": 2}


def test_recreation_waits_until_no_old_pod_runs() -> None:
    it = deployment(2)
    it = replace(it, spec=replace(it.spec, strategy=DeploymentStrategy(type="Recreate")))
    assert sizes(step_of(it, revision(1, 2))) == {"s1": 0}
    shrunk = revision(1, 0)
    going = replace(shrunk, status=replace(shrunk.status, terminating_replicas=1))
    late = replace(shrunk, metadata=replace(shrunk.metadata, generation=2))
    assert step_of(it, going) == RolloutStep()
    assert step_of(it, late) == RolloutStep()
    assert step_of(it, shrunk) == RolloutStep(create=2)
    assert sizes(step_of(it, shrunk, revision(9, 0))) == {"s9": 2}


def test_change_of_size_amidst_a_rollout_is_shared() -> None:
    sets = (revision(1, 8, of=10, limit=13), revision(9, 5, 0, of=10, limit=13))
    told = step_of(deployment(30, 3, 2), *sets)
    assert sizes(told) == {"s1": 20, "s9": 13}
    assert not told.rolling


def test_change_of_size_goes_to_the_only_set_that_works() -> None:
    sets = (revision(1, 0), revision(9, 5, of=5, limit=6))
    assert sizes(step_of(deployment(7), *sets)) == {"s9": 7}
    assert sizes(step_of(deployment(0), *sets)) == {"s9": 0}


def test_paused_deployment_grows_and_does_not_roll() -> None:
    paused = deployment(4, paused=True)
    assert step_of(paused, revision(1, 4)).scales == ()
    assert sizes(step_of(paused, revision(1, 3))) == {"s1": 4}
    assert step_of(paused).create is None


def test_everything_goes_when_nothing_is_desired() -> None:
    sets = (revision(1, 8, of=10, limit=13), revision(9, 5, of=10, limit=13))
    assert sizes(step_of(deployment(0, 3, 2), *sets)) == {"s1": 0, "s9": 0}


def test_history_is_tidied_when_all_is_done() -> None:
    done = DeploymentStatus(
        observed_generation=1, replicas=2, updated_replicas=2, available_replicas=2
    )
    it = replace(deployment(2), status=done)
    assert step_of(it, revision(1, 0), revision(9, 2)).tidy
    assert not step_of(deployment(2), revision(1, 0), revision(9, 2)).tidy


@settings(max_examples=300)
@given(
    st.integers(1, 20),
    st.integers(0, 5) | st.integers(0, 100).map("{}%".format),
    st.integers(0, 5) | st.integers(0, 100).map("{}%".format),
    st.lists(st.integers(0, 6), min_size=1, max_size=3),
    st.data(),
)
def test_rollout_keeps_its_limits_and_comes_to_an_end(
    desired: int, surge: IntOrString, missing: IntOrString, parts: list[int], data: st.DataObject
) -> None:
    """From any division among old sets, with pods that become available in any order."""
    it = deployment(desired, surge, missing)
    rest = max(0, desired - sum(parts))
    sets = [revision(at, count) for at, count in enumerate([*parts, rest], 1)]
    roof = max(Rollout.of(it, sets).limit, sum(map(size, sets)))
    floor = min(desired - Rollout.of(it, sets).unavailable, sum(map(size, sets)))
    for _ in range(400):
        rollout = Rollout.of(it, sets)
        told = next_step(rollout)
        sets = _acted(rollout, told, sets)
        working = [each.status.available_replicas for each in sets]
        assert sum(map(size, sets)) <= roof
        assert sum(min(size(s), w) for s, w in zip(sets, working, strict=True)) >= floor
        if not told.scales and told.create is None:
            waiting = [at for at, each in enumerate(sets) if working[at] < size(each)]
            if not waiting:
                break
            at = data.draw(st.sampled_from(waiting))
            status = replace(sets[at].status, available_replicas=working[at] + 1)
            sets[at] = replace(sets[at], status=status)
    final = Rollout.of(it, sets)
    assert final.new is not None
    assert size(final.new) == desired
    assert sum(map(size, final.old)) == 0


def _acted(rollout: Rollout, told: RolloutStep, sets: list[ReplicaSet]) -> list[ReplicaSet]:
    """What the server and the sets make of a step: surplus pods go, broken ones first."""
    wanted = {scale.replicas.metadata.uid: scale.size for scale in told.scales}
    acted = []
    for each in sets:
        count = wanted.get(each.metadata.uid, size(each))
        notes = {
            **each.metadata.annotations,
            **(size_annotations(rollout) if count != size(each) else {}),
        }
        working = min(each.status.available_replicas, count)
        acted.append(
            replace(
                each,
                metadata=replace(each.metadata, annotations=notes),
                spec=replace(each.spec, replicas=count),
                status=replace(each.status, available_replicas=working, replicas=count),
            )
        )
    if told.create is not None:
        made = new_replica_set(rollout, told.create)
        meta = replace(made.metadata, uid="new", creation_timestamp="2026-01-02T00:00:00Z")
        acted.append(replace(made, metadata=meta))
    return acted
