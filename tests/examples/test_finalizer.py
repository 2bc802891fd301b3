"""The example of finalizers does what it says: nothing is left at the provider, come what may."""

from __future__ import annotations

from typing import Any

import pytest

from examples_support import load_example
from quintant.core.object import replace
from quintant.testing import InProcessCluster, kind, named, verb

example = load_example("03_finalizer")


class Provider:
    """A DNS provider in memory, which may be out of order."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}
        self.works = True

    async def put(self, name: str, address: str) -> None:
        self._check()
        self.records[name] = address

    async def remove(self, name: str) -> None:
        self._check()
        self.records.pop(name, None)

    def _check(self) -> None:
        if not self.works:
            raise ConnectionError("the provider is away")


@pytest.fixture
def zone() -> Provider:
    return Provider()


def record(name: str = "www.demo.dev") -> Any:
    return example.Record(
        metadata=named("r"), spec=example.RecordSpec(name=name, address="10.0.0.1")
    )


async def rename(cluster: InProcessCluster, name: str) -> None:
    live = await cluster.get(example.Record, "r")
    spec = example.RecordSpec(name=name, address="10.0.0.1")
    await cluster.client.patch(replace(live, spec=spec), since=live)


async def test_a_record_is_published_and_taken_back(
    cluster: InProcessCluster, zone: Provider
) -> None:
    engine = await cluster.run(example.records(zone))
    await cluster.create(record())
    await cluster.advance(1)
    assert zone.records == {"www.demo.dev": "10.0.0.1"}
    assert b'dns_records_published{key="default/r"} 1.0' in engine.metrics.render()

    await cluster.client.delete(await cluster.get(example.Record, "r"))
    await cluster.wait_deleted(example.Record, "r")
    await cluster.advance(1)
    assert zone.records == {}
    assert b"default/r" not in engine.metrics.render()


async def test_a_renamed_record_leaves_its_old_name(
    cluster: InProcessCluster, zone: Provider
) -> None:
    await cluster.run(example.records(zone))
    await cluster.create(record())
    await cluster.advance(1)
    await rename(cluster, "web.demo.dev")
    await cluster.advance(1)
    assert zone.records == {"web.demo.dev": "10.0.0.1"}


async def test_a_record_is_held_while_the_provider_is_away(
    cluster: InProcessCluster, zone: Provider
) -> None:
    await cluster.run(example.records(zone))
    await cluster.create(record())
    await cluster.advance(1)
    zone.works = False
    await cluster.client.delete(await cluster.get(example.Record, "r"))
    await cluster.advance(600)
    assert (await cluster.get(example.Record, "r")).deleting

    zone.works = True
    await cluster.wait_deleted(example.Record, "r", within=1000)
    assert zone.records == {}


@pytest.mark.parametrize("write", range(4))
async def test_a_crash_at_any_write_leaks_no_name(
    cluster: InProcessCluster, zone: Provider, write: int
) -> None:
    manager = example.records(zone)
    engine = await cluster.run(manager)
    about = verb("patch") & kind(example.Record)
    fault = cluster.faults.lose(about, skip=write, times=1)
    await cluster.create(record("a.demo.dev"))
    await cluster.advance(1)
    await rename(cluster, "b.demo.dev")
    await cluster.advance(0.001)
    await cluster.crash(engine)
    fault.lift()
    await rename(cluster, "c.demo.dev")

    await cluster.run(manager)
    await cluster.advance(1)
    assert zone.records == {"c.demo.dev": "10.0.0.1"}
    await cluster.client.delete(await cluster.get(example.Record, "r"))
    await cluster.wait_deleted(example.Record, "r")
    assert zone.records == {}
