"""Exposures on the console."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.operators.portal.api import (
    App,
    PortalExpose,
    PortalExposeSpec,
    PortalExposeStatus,
    RelayConnection,
    RelaySpec,
    RelayStatus,
    RelayTarget,
    ServiceRef,
)
from quintant.operators.portal.panel import expose_row
from quintant.testing import named

RELAYS = RelaySpec(targets=(RelayTarget(name="r", url="wss://relay.example/relay"),))
SPEC = PortalExposeSpec(app=App(name="web", service=ServiceRef(name="web", port=80)), relay=RELAYS)


def expose(status: PortalExposeStatus | None) -> PortalExpose:
    return PortalExpose(metadata=named("a"), spec=SPEC, status=status)


@pytest.mark.parametrize(
    ("phase", "state"),
    [("Ready", "well"), ("Pending", "working"), ("Degraded", "broken"), ("Failed", "broken"),
     ("Strange", "unknown"), (None, "unknown")],
)  # fmt: skip
def test_an_exposure_is_what_its_phase_says(phase: Any, state: str) -> None:
    assert expose_row(expose(PortalExposeStatus(phase=phase))).state == state


def test_an_exposure_that_is_ready_has_its_url() -> None:
    status = PortalExposeStatus(phase="Ready", public_url="https://web.relay.example")
    row = expose_row(expose(status))
    assert row.url == "https://web.relay.example"
    assert "public at" in row.sentence


def test_an_exposure_that_failed_says_which_relay_and_why() -> None:
    relay = RelayConnection(name="r", status="Disconnected", last_error="no route")
    status = PortalExposeStatus(phase="Failed", relay=RelayStatus(connected=(relay,)))
    assert expose_row(expose(status)).sentence == "relay r: no route"


def test_an_exposure_without_a_status_is_unknown() -> None:
    assert expose_row(expose(None)).state == "unknown"
