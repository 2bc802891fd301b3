from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease import (
    Election,
    ElectionAction,
    ObservedLease,
    claimed_lease,
    decide,
    observe,
    released_lease,
)

NOW = datetime(2026, 5, 4, 3, 2, 1, 500, tzinfo=UTC)
LATER = "2026-05-04T03:02:01.000500Z"
EARLIER = "2026-01-01T00:00:00.000000Z"
OURS = Election("portal", "shop", "me")


def lease(
    holder: str | None = None,
    *,
    version: str = "7",
    duration: int | None = 15,
    transitions: int = 3,
) -> Lease:
    return Lease(
        metadata=ObjectMeta(name="portal", namespace="shop", resource_version=version),
        spec=LeaseSpec(
            holder_identity=holder,
            lease_duration_seconds=duration,
            acquire_time=EARLIER,
            renew_time=EARLIER,
            lease_transitions=transitions,
        ),
    )


@pytest.mark.parametrize(
    ("holder", "age", "action"),
    [
        ("you", 0.0, ElectionAction.WAIT),
        ("you", 14.9, ElectionAction.WAIT),
        ("you", 15.0, ElectionAction.TAKE),
        ("you", 900.0, ElectionAction.TAKE),
        ("me", 0.0, ElectionAction.RENEW),
        ("me", 900.0, ElectionAction.RENEW),
        ("", 0.0, ElectionAction.TAKE),
        (None, 0.0, ElectionAction.TAKE),
    ],
)
def test_lease_is_claimed_only_from_nobody_or_from_a_holder_who_let_it_run_out(
    holder: str | None, age: float, action: ElectionAction
) -> None:
    found = lease(holder)

    assert decide(OURS, found, ObservedLease(found, 100.0), 100.0 + age) is action


def test_absent_lease_is_created() -> None:
    assert decide(OURS, None, None, 0.0) is ElectionAction.CREATE
    assert decide(OURS, None, ObservedLease(lease("me"), 0.0), 1.0) is ElectionAction.CREATE
    assert decide(OURS, None, ObservedLease(lease(""), 0.0), 1.0) is ElectionAction.CREATE


def test_deleted_lease_is_respected_until_it_would_have_run_out() -> None:
    known = ObservedLease(lease("you"), 100.0)

    assert decide(OURS, None, known, 110.0) is ElectionAction.WAIT
    assert decide(OURS, None, known, 115.0) is ElectionAction.CREATE


def test_duration_is_that_of_the_record_and_ours_only_if_it_says_none() -> None:
    long, silent = lease("you", duration=60), lease("you", duration=None)

    assert decide(OURS, long, ObservedLease(long, 0.0), 59.0) is ElectionAction.WAIT
    assert decide(OURS, silent, ObservedLease(silent, 0.0), 14.0) is ElectionAction.WAIT
    assert decide(OURS, silent, ObservedLease(silent, 0.0), 15.0) is ElectionAction.TAKE


def test_any_write_to_the_lease_starts_its_duration_anew() -> None:
    first = observe(None, lease("you", version="7"), 100.0)
    same = observe(first, lease("you", version="7"), 110.0)
    newer = observe(same, lease("you", version="8"), 112.0)

    assert (first.since, same.since, newer.since) == (100.0, 100.0, 112.0)


@given(skew=st.integers(-(10**6), 10**6), age=st.floats(0, 14.9))
def test_times_in_the_record_decide_nothing(skew: int, age: float) -> None:
    moment = datetime.fromtimestamp(1.7e9 + skew, UTC).isoformat()
    found = Lease(spec=LeaseSpec(holder_identity="you", renew_time=moment, acquire_time=moment))

    assert decide(OURS, found, ObservedLease(found, 50.0), 50.0 + age) is ElectionAction.WAIT


def test_first_claim_counts_no_transition() -> None:
    assert claimed_lease(OURS, None, NOW) == LeaseSpec(
        holder_identity="me",
        lease_duration_seconds=15,
        acquire_time=LATER,
        renew_time=LATER,
        lease_transitions=0,
    )


@pytest.mark.parametrize("holder", ["you", "", None])
def test_change_of_holder_counts_one_transition(holder: str | None) -> None:
    spec = claimed_lease(OURS, lease(holder).spec, NOW)

    assert spec.lease_transitions == 4
    assert (spec.holder_identity, spec.acquire_time, spec.renew_time) == ("me", LATER, LATER)


def test_renewal_keeps_the_time_of_acquisition_and_counts_none() -> None:
    spec = claimed_lease(OURS, lease("me").spec, NOW)

    assert spec.lease_transitions == 3
    assert (spec.acquire_time, spec.renew_time) == (EARLIER, LATER)


def test_released_lease_names_nobody_and_keeps_its_history() -> None:
    spec = released_lease(lease("me").spec, NOW)

    assert (spec.holder_identity, spec.lease_duration_seconds) == ("", 1)
    assert (spec.lease_transitions, spec.renew_time) == (3, LATER)


@pytest.mark.parametrize(
    ("seconds", "renew", "retry"),
    [(10.0, 10.0, 2.0), (15.0, 2.4, 2.0), (15.0, 10.0, 0.0), (15.0, 10.0, 9.0)],
)
def test_impossible_timing_is_refused(seconds: float, renew: float, retry: float) -> None:
    with pytest.raises(ConfigError, match="lease > renew"):
        Election(
            "portal", "shop", "me", lease_duration=seconds, renew_deadline=renew, retry_period=retry
        )


def test_one_hung_call_leaves_time_for_another_and_no_write_outlives_the_lease() -> None:
    assert OURS.call_timeout == 5.0
    assert OURS.renew_deadline + OURS.write_timeout == OURS.lease_duration
    assert (
        Election(
            "portal", "shop", "me", lease_duration=3, renew_deadline=1.5, retry_period=0.5
        ).call_timeout
        == 1.0
    )
