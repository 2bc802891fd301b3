"""kopf's examples and end-to-end tests, unchanged: under kopf and under us, beside each other."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from foreign import ProgramError
from foreign.catalogue import KOPF, KOPF_TESTS
from foreign.python_program import PythonProgram
from interop.conftest import Aloud
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.cluster.simulated.fleet import Fleet
from quintant.core.address import BindAddress
from testbeds import kopf_tests
from testbeds.kopf_examples import Framework, Life, examples_folder, live, open_scene, ours, theirs

NAMES = (
    "01-minimal", "02-children", "03-exceptions", "04-events", "05-handlers", "06-peering",
    "07-subhandlers", "08-events", "09-testing", "10-builtins", "11-filtering-handlers",
    "12-embedded", "13-hooks", "14-daemons", "15-timers", "16-indexing", "17-admission",
    "99-all-at-once",
)  # fmt: skip
PRINTS_ITS_OWN = {"08-events", "16-indexing"}
"""What these print is raw objects, with versions and times of their cluster."""


def provided(program: PythonProgram, aloud: Aloud) -> Path:
    """The Python that has a program."""
    try:
        with aloud():
            return program.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


@pytest.fixture
def python(aloud: Aloud) -> Path:
    """The Python that has kopf."""
    return provided(KOPF, aloud)


@pytest.fixture
def tests_python(aloud: Aloud) -> Path:
    """The Python that has what kopf's own tests need."""
    return provided(KOPF_TESTS, aloud)


async def cluster_of(stack: AsyncExitStack, kubeconfig: Path) -> None:
    """A cluster with a node, as long as a stack lasts."""
    config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(1))
    save_kubeconfig(await stack.enter_async_context(run_cluster(config)), kubeconfig)


async def one(framework: Framework, name: str, folder: Path, tmp_path: Path) -> Life:
    """The life of an example in a cluster of its own."""
    async with AsyncExitStack() as stack:
        kubeconfig = tmp_path / framework.name
        await cluster_of(stack, kubeconfig)
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


TESTS = 17
"""kopf's end-to-end tests: one for each example without tests of its own, and theirs."""


async def test_its_own_end_to_end_tests_pass_as_under_kopf(
    tests_python: Path, tmp_path: Path
) -> None:
    sources, found = examples_folder(tests_python).parent, []
    async with AsyncExitStack() as stack:
        for plugin in (kopf_tests.THEIRS, kopf_tests.OURS):
            kubeconfig = tmp_path / plugin
            await cluster_of(stack, kubeconfig)
            found.append(kopf_tests.end_to_end(plugin, tests_python, sources, kubeconfig))
        theirs, ours = await asyncio.gather(*found)
    assert ours.others == {}, ours.printed
    assert ours.passed == theirs.passed | theirs.others.keys()
    assert len(ours.passed) == TESTS
