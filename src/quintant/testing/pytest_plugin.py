"""The pytest fixtures that are there wherever Quintant is installed, for tests with any client.

`quintant_cluster` is a cluster in a process of its own, for tests that block; one for the whole
run. `quintant_async_cluster` is one in the process of an async test, on its event loop, for that
test alone. Both have controllers and a simulated node. Nothing is loaded or changed by the mere
presence of this module: virtual time is `quintant.testing.plugin`, which a project asks for.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

INI = "quintant_up"
DEFAULTS = "--no-node --nodes 1"
_READY = "export KUBECONFIG="


@dataclass(frozen=True)
class TestCluster:
    """The way into a cluster that a test has."""

    __test__ = False

    kubeconfig: Path
    """Of its administrator."""

    @property
    def environ(self) -> dict[str, str]:
        """Variables for a program that should use it."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig)}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        INI, "options of `quintant up` for the fixture quintant_cluster", default=DEFAULTS
    )


@pytest.fixture(scope="session")
def quintant_cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestCluster]:
    """A cluster in a process of its own, ready, for the whole run; for tests that block."""
    options = shlex.split(request.config.getini(INI))
    with cluster_process(tmp_path_factory.mktemp("quintant"), *options) as kubeconfig:
        yield TestCluster(kubeconfig)


@contextmanager
def cluster_process(folder: Path, *options: str) -> Iterator[Path]:
    """`quintant up` for as long as the context lasts; its kubeconfig, once it is ready."""
    # Loaded by those who use it.
    from quintant.die_with_parent import die_with_parent

    kubeconfig, errors = folder / "kubeconfig", folder / "stderr"
    command = [sys.executable, "-m", "quintant", "up", "--name", "test", *options]
    command += ["--listen", "127.0.0.1:0", "--kubeconfig", str(kubeconfig)]
    with (
        errors.open("wb") as output,
        subprocess.Popen(
            die_with_parent(command),
            env={**os.environ, "XDG_RUNTIME_DIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            if not any(line.startswith(_READY) for line in process.stdout):
                pytest.fail(f"quintant up has ended:\n{errors.read_text()}", pytrace=False)
            yield kubeconfig
        finally:
            process.terminate()


if find_spec("pytest_asyncio"):
    import pytest_asyncio

    @pytest_asyncio.fixture
    async def quintant_async_cluster(tmp_path: Path) -> AsyncIterator[TestCluster]:
        """A cluster on the event loop of an async test, for that test alone."""
        # Loaded by those who use it.
        from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
        from quintant.cluster.instance.readiness import wait_ready
        from quintant.cluster.simulated.fleet import Fleet
        from quintant.core.address import BindAddress

        config = ClusterConfig(BindAddress("127.0.0.1", 0), controllers=True, fleet=Fleet(1))
        async with run_cluster(config) as cluster:
            await wait_ready(cluster, config)
            path = tmp_path / "quintant" / "kubeconfig"
            save_kubeconfig(cluster, path)
            yield TestCluster(path)
