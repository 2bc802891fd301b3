"""`quintant run` runs the first example the same way on a real and on the embedded API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envtest import RealCluster
from scenarios.greeter_example import check_greeting
from scenarios.server import served

pytestmark = pytest.mark.realtime


@pytest.fixture(params=["real", "embedded"])
def kubeconfig(
    request: pytest.FixtureRequest, real_cluster: RealCluster, tmp_path: Path
) -> Iterator[Path]:
    """The kubeconfig of either cluster."""
    if request.param == "real":
        yield real_cluster.kubeconfig
        return
    with served(tmp_path) as server:
        yield server.kubeconfig


async def test_greeter_runs_as_a_program_and_stops_when_told(kubeconfig: Path) -> None:
    await check_greeting(kubeconfig)
