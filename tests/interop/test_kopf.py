"""kopf's own examples, unchanged: under kopf and under us, beside each other."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from foreign import ProgramError
from foreign.catalogue import KOPF
from interop.conftest import Aloud
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from testbeds.kopf_examples import Framework, Life, examples_folder, live, open_scene, ours, theirs

NAMES = (
    "01-minimal", "02-children", "03-exceptions", "04-events", "05-handlers", "06-peering",
    "07-subhandlers", "08-events", "09-testing", "10-builtins", "11-filtering-handlers",
    "12-embedded", "13-hooks", "14-daemons", "15-timers", "16-indexing", "17-admission",
    "99-all-at-once",
)  # fmt: skip
PRINTS_ITS_OWN = {"08-events", "16-indexing"}
"""What these print is raw objects, with versions and times of their cluster."""


@pytest.fixture
def python(aloud: Aloud) -> Path:
    """The Python that has kopf."""
    try:
        with aloud():
            return KOPF.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


async def one(framework: Framework, name: str, folder: Path, tmp_path: Path) -> Life:
    """The life of an example in a cluster of its own."""
    async with AsyncExitStack() as stack:
        config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(1))
        cluster = await stack.enter_async_context(run_cluster(config))
        kubeconfig = tmp_path / framework.name
        save_kubeconfig(cluster, kubeconfig)
        scene = await stack.enter_async_context(open_scene(kubeconfig, folder))
        return await live(framework, folder / name / "example.py", scene, kubeconfig)


def difference(made: Life, wanted: Life) -> list[str]:
    """The lines by which the states of two lives differ."""
    left, right = (
        json.dumps(life.states, indent=1, sort_keys=True).splitlines() for life in (made, wanted)
    )
    return list(difflib.unified_diff(right, left, "kopf", "quintant", n=1, lineterm=""))


def test_every_example_is_in_the_table(python: Path) -> None:
    folder = examples_folder(python)
    assert sorted(each.parent.name for each in folder.glob("*/example.py")) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
async def test_an_example_ends_as_under_kopf(name: str, python: Path, tmp_path: Path) -> None:
    folder = examples_folder(python)
    made, wanted = await asyncio.gather(
        one(ours(python), name, folder, tmp_path), one(theirs(python), name, folder, tmp_path)
    )
    assert difference(made, wanted) == [], made.errors
    assert made.code == wanted.code, made.errors
    if name not in PRINTS_ITS_OWN:
        assert made.printed == wanted.printed, made.errors
