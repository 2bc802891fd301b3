"""`quintant run` runs the first example against the embedded API server, over HTTPS."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.greeter_example import check_greeting
from scenarios.server import served


@pytest.mark.realtime
async def test_greeter_runs_as_a_program_and_stops_when_told(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        await check_greeting(server.kubeconfig)
