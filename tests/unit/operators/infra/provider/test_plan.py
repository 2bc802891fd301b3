"""What is said about a provider, and when it is looked at again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from quintant.api.meta import condition_of
from quintant.core import codec
from quintant.operators.infra.api import IN_USE, InfrastructureProvider, ProviderStatus
from quintant.operators.infra.observed.answers import ErrorClass, Failure
from quintant.operators.infra.plan.decision import SOON
from quintant.operators.infra.plan.looks import LEAST_SECONDS
from quintant.operators.infra.provider.observed import ProviderObserved
from quintant.operators.infra.provider.plan import plan, too_old

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SILENT = Failure(ErrorClass.TRANSIENT, "Unreachable", "no connection")


def provider(**meta: Any) -> InfrastructureProvider:
    body = {"metadata": {"name": "im", "namespace": "default", **meta}, "spec": {"type": "im"}}
    return codec.decode(InfrastructureProvider, codec.encode(body))


def decided(observed: ProviderObserved) -> tuple[ProviderStatus, float | None]:
    """The status, and the seconds until the next look."""
    conclusion = plan(observed, interval=60.0, jitter=1.0)
    assert conclusion.status is not None
    return conclusion.status, conclusion.again.seconds if conclusion.again is not None else None


def test_provider_that_answers_is_ready_and_looked_at_at_leisure() -> None:
    observed = ProviderObserved(provider(), NOW, version="2.0.0")
    status, after = decided(observed)
    ready = condition_of(status.conditions, "Ready")
    assert observed.up
    assert ready is not None
    assert ready.status == "True"
    assert after == 60.0


def test_provider_that_does_not_answer_is_asked_sooner() -> None:
    observed = ProviderObserved(provider(), NOW, failure=SILENT)
    status, after = decided(observed)
    reachable = condition_of(status.conditions, "Reachable")
    assert not observed.up
    assert reachable is not None
    assert (reachable.status, reachable.reason) == ("False", "Unreachable")
    assert after == LEAST_SECONDS


def test_provider_that_clouds_name_is_held_at_once() -> None:
    status, after = decided(ProviderObserved(provider(), NOW, ("default/here",), version="2.0.0"))
    assert status.clouds == 1
    assert after == SOON
    held = provider(finalizers=[IN_USE])
    assert decided(ProviderObserved(held, NOW, ("default/here",), version="2.0.0"))[1] == 60.0


def test_provider_that_is_going_stays_for_its_clouds_and_no_longer() -> None:
    going = provider(finalizers=[IN_USE], deletionTimestamp="2026-01-01T00:00:00Z")
    assert decided(ProviderObserved(going, NOW, ("default/here",)))[1] == 60.0
    assert decided(ProviderObserved(going, NOW))[1] is None


@pytest.mark.parametrize(
    ("version", "old"),
    [("1.19.0", True), ("1.19.1", False), ("2.0.0+x", False), ("devel", False), ("", False)],
)
def test_versions_that_take_no_json_are_too_old(version: str, old: bool) -> None:
    assert too_old(version) is old
