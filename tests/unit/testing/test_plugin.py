"""Promises of the fixtures; each of the first tests would fail after the other if they shared."""

from __future__ import annotations

import pytest

from quintant.testing import InProcessCluster
from quintant.testing.plugin import Prepare
from scenarios.greeter import Greeter, greeter

_TIMES: list[str] = []


async def fill(cluster: InProcessCluster) -> None:
    _TIMES.append("prepared")
    await cluster.create(greeter("prepared"))


@pytest.fixture(scope="module")
def prepare() -> Prepare:
    return fill


@pytest.mark.parametrize("name", ["a", "b"])
async def test_every_test_begins_with_what_was_prepared(
    cluster: InProcessCluster, name: str
) -> None:
    assert [each.metadata.name for each in await cluster.client.list(Greeter)] == ["prepared"]
    await cluster.create(greeter(name))
    await cluster.client.delete(await cluster.get(Greeter, "prepared"))


async def test_it_was_prepared_once(cluster: InProcessCluster) -> None:
    assert _TIMES == ["prepared"]
