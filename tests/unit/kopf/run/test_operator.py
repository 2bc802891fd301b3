"""The operator itself: its start and end, its peers, its webhooks, its credentials, its probes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from quintant.core.clock import LoopClock
from quintant.core.errors import ConfigError
from quintant.kopf import public as kopf
from quintant.kopf.declare.errors import ActivityError, LoginError
from quintant.kopf.run.login import ConnectionInfo, LoginCredentials, chosen_connection
from quintant.testing import InProcessCluster
from unit.kopf.kit import (
    DEFINITIONS,
    Examples,
    at_work,
    definition,
    fresh_registry,
    handled,
    with_kind,
)

PEERINGS = "/apis/kopf.dev/v1/clusterkopfpeerings"


async def test_startup_is_tried_again_and_cleanup_ends_it(cluster: InProcessCluster) -> None:
    registry, said = fresh_registry(), list[str]()

    @kopf.on.startup()
    async def start(retry: int, memo: Any, settings: Any, **_: Any) -> None:
        said.append(f"start {retry}")
        memo.ready = True
        settings.persistence.finalizer = "example.com/held"
        if retry < 2:
            raise kopf.TemporaryError("not yet", delay=5)

    @kopf.on.cleanup()
    def end(memo: Any, **_: Any) -> None:
        said.append(f"end {memo.ready}")

    @kopf.on.delete("kopfexamples")
    def clean(**_: Any) -> None: ...

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(
            lambda found: found["metadata"].get("finalizers") == ["example.com/held"]
        )
    assert said == ["start 0", "start 1", "start 2", "end True"]


async def test_a_startup_that_fails_for_good_ends_the_operator(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.startup()
    def start(**_: Any) -> None:
        raise kopf.PermanentError("no way")

    with pytest.raises(ActivityError, match="startup failed"):
        async with at_work(cluster, registry):
            pass


async def test_an_operator_without_handlers_is_refused(cluster: InProcessCluster) -> None:
    with pytest.raises(ConfigError, match="declares no handlers"):
        async with at_work(cluster, fresh_registry()):
            pass


async def peered(cluster: InProcessCluster) -> Examples:
    """A cluster with the kind and a peering."""
    examples = await with_kind(cluster)
    made = definition("clusterkopfpeerings", "ClusterKopfPeering")
    made["spec"]["scope"] = "Cluster"
    del made["spec"]["versions"][0]["subresources"]
    await examples.ask("POST", DEFINITIONS, made)
    body = {"apiVersion": "kopf.dev/v1", "kind": "ClusterKopfPeering"}
    await examples.ask("POST", PEERINGS, {**body, "metadata": {"name": "default"}})
    return examples


async def test_of_two_operators_the_one_with_the_higher_priority_works(
    cluster: InProcessCluster,
) -> None:
    said, registries = list[str](), []
    for who in ("low", "high"):
        registry = fresh_registry()

        @kopf.on.create("kopfexamples", id="create")
        def create(name: str, who: str = who, **_: Any) -> None:
            said.append(f"{who} {name}")

        registries.append(registry)
    examples = await peered(cluster)
    async with at_work(cluster, registries[0], identity="low", priority=0, clusterwide=True):
        await examples.create("a", spec={})
        await examples.eventually(handled)
        async with at_work(cluster, registries[1], identity="high", priority=10, clusterwide=True):
            await asyncio.sleep(5)
            found = await examples.ask("GET", f"{PEERINGS}/default")
            assert sorted(found["status"]) == ["high", "low"]
            await examples.create("b", spec={})
            await examples.eventually(handled, "b")
        await asyncio.sleep(5)
        await examples.create("c", spec={})
        await examples.eventually(handled, "c")
        found = await examples.ask("GET", f"{PEERINGS}/default")
        assert sorted(found["status"]) == ["low"]
    assert said == ["low a", "high b", "low c"]


async def test_a_peer_that_died_is_waited_for_no_longer_than_its_lifetime(
    cluster: InProcessCluster,
) -> None:
    registry = fresh_registry()

    @kopf.on.create("kopfexamples")
    def create(**_: Any) -> None: ...

    examples = await peered(cluster)
    now = cluster.environment().clock.now()
    dead = {"priority": 5, "lifetime": 60, "lastseen": now.isoformat()}
    await examples.ask("PATCH", f"{PEERINGS}/default", {"status": {"dead": dead}}, "merge")
    async with at_work(cluster, registry, clusterwide=True):
        await examples.create(spec={})
        await asyncio.sleep(30)
        assert not handled(await examples.get())
        await examples.eventually(handled)
        assert cluster.environment().clock.now() - now < timedelta(seconds=90)


async def test_a_peering_that_is_asked_for_must_be_there(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.create("kopfexamples")
    def create(**_: Any) -> None: ...

    await with_kind(cluster)
    with pytest.raises(ConfigError, match="cannot join the peering mine"):
        async with at_work(cluster, registry, peering_name="mine"):
            pass


async def test_webhooks_without_a_server_are_refused(cluster: InProcessCluster) -> None:
    registry = fresh_registry()

    @kopf.on.validate("kopfexamples")
    def check(**_: Any) -> None: ...

    await with_kind(cluster)
    with pytest.raises(ConfigError, match="no server is chosen"):
        async with at_work(cluster, registry):
            pass


async def test_credentials_are_asked_for_again_before_they_end() -> None:
    clock, logins = LoopClock(), list[int]()

    async def login() -> ConnectionInfo:
        logins.append(1)
        end = clock.now() + timedelta(seconds=30)
        return ConnectionInfo(server="https://a", token=f"t{len(logins)}", expiration=end)

    credentials = LoginCredentials(login, clock)
    first = await credentials.credential()
    assert await credentials.credential() is first
    assert first.headers == {"authorization": "Bearer t1"}
    await asyncio.sleep(26)
    assert (await credentials.credential()).headers == {"authorization": "Bearer t2"}
    assert credentials.invalidate(0.0)
    assert not credentials.invalidate(0.0)
    assert (await credentials.credential()).headers == {"authorization": "Bearer t3"}


def test_of_several_logins_the_highest_priority_counts() -> None:
    low = ConnectionInfo(server="https://low")
    high = ConnectionInfo(server="https://high", priority=1)
    assert chosen_connection({"a": low, "b": high, "c": None}) is high
    with pytest.raises(LoginError):
        chosen_connection({"a": None})


def test_credentials_show_no_secret() -> None:
    info = ConnectionInfo(server="https://a", token="hush", password="hush")
    assert "hush" not in repr(info)
    with pytest.raises(ValueError, match="not both"):
        ConnectionInfo(server="https://a", ca_path="a", ca_data="b")
