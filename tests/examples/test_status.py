"""The example of statuses does what it says: conditions, events, polling, and giving up."""

from __future__ import annotations

from typing import Any

import pytest

from examples_support import load_example
from quintant.api.events import Event
from quintant.api.meta import condition_of
from quintant.core.object import replace
from quintant.testing import InProcessCluster, named

example = load_example("04_status")


class Network:
    """Dials nothing, and counts how often."""

    def __init__(self) -> None:
        self.wrong, self.dialled = "", 0

    async def __call__(self, host: str, port: int) -> str:
        self.dialled += 1
        return self.wrong


@pytest.fixture
def network() -> Network:
    return Network()


def probe(host: str = "db.demo.dev") -> Any:
    return example.Probe(metadata=named("p"), spec=example.ProbeSpec(host=host, port=5432))


def judged(reason: str) -> Any:
    def holds(found: Any) -> bool:
        held = condition_of(found.status.conditions, "Reachable") if found.status else None
        return held is not None and held.reason == reason

    return holds


async def reasons(cluster: InProcessCluster) -> list[str]:
    events = await cluster.client.list(Event, "default")
    return [event.reason for event in sorted(events, key=lambda event: event.event_time or "")]


async def test_a_port_is_dialled_every_half_minute(
    cluster: InProcessCluster, network: Network
) -> None:
    await cluster.run(example.probes(network))
    await cluster.create(probe())
    await cluster.advance(10 * example.POLL_SECONDS + 1)
    assert network.dialled == 11


async def test_the_condition_says_since_when(cluster: InProcessCluster, network: Network) -> None:
    await cluster.run(example.probes(network))
    await cluster.create(probe())
    first = await cluster.eventually(example.Probe, "p", until=judged("Answered"))
    network.wrong = "connection refused"
    second = await cluster.eventually(example.Probe, "p", until=judged("NoAnswer"))
    await cluster.advance(3600)
    third = await cluster.get(example.Probe, "p")

    up, down = first.status.conditions[0], second.status.conditions[0]
    assert (up.status, down.status, down.message) == ("True", "False", "connection refused")
    assert down.last_transition_time > up.last_transition_time
    assert third.status == second.status
    assert third.metadata.resource_version == second.metadata.resource_version


async def test_only_changes_become_events(cluster: InProcessCluster, network: Network) -> None:
    await cluster.run(example.probes(network))
    await cluster.create(probe())
    await cluster.advance(300)
    network.wrong = "connection refused"
    await cluster.advance(300)
    assert await reasons(cluster) == ["Answered", "NoAnswer"]


async def test_a_probe_of_the_controller_itself_is_refused_until_it_is_edited(
    cluster: InProcessCluster, network: Network
) -> None:
    await cluster.run(example.probes(network))
    await cluster.create(probe("127.0.0.1"))
    refused = await cluster.eventually(example.Probe, "p", until=judged("Refused"))
    await cluster.advance(1800)
    assert network.dialled == 0

    spec = replace(refused.spec, host="db.demo.dev")
    await cluster.client.patch(replace(refused, spec=spec), since=refused)
    await cluster.eventually(example.Probe, "p", until=judged("Answered"))
    assert await reasons(cluster) == ["Refused", "Answered"]


@pytest.mark.realtime
async def test_a_port_that_nobody_listens_on_is_said_not_to_answer() -> None:
    assert await example.dial("127.0.0.1", 1) != ""
