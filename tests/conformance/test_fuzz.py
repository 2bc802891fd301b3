"""The same random requests to both servers: the first seeds of `make fuzz`, and all kept ones."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from envtest import RealCluster
from fuzz import kept
from fuzz.generate import sequence
from fuzz.kept import Kept, digests
from fuzz.pair import Pair, paired
from fuzz.widgets import SUBJECTS
from quintant import Config

LENGTH = 25


@pytest_asyncio.fixture
async def pair(real_cluster: RealCluster) -> AsyncIterator[Pair]:
    async with paired(Config.load(real_cluster.kubeconfig)) as found:
        yield found


@pytest.mark.parametrize("kind", SUBJECTS)
@pytest.mark.parametrize("seed", range(3))
async def test_both_servers_tell_the_same(pair: Pair, seed: int, kind: str) -> None:
    found = await pair.compare(sequence(seed, LENGTH, [kind]))
    assert found is None, str(found)


@pytest.mark.parametrize("each", kept.read(), ids=lambda each: each.name)
async def test_what_is_kept_is_what_the_real_server_tells(pair: Pair, each: Kept) -> None:
    assert digests(await pair.told(each.steps)) == each.told
