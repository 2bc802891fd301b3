"""controller-runtime's envtest starts our etcd and kube-apiserver, as people's Go tests do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import patience
from foreign.own_program import OwnProgram
from interop.conftest import Aloud
from interop.go_sources import built
from quintant.cli.envtest.assets import write_assets

PROGRAM = OwnProgram(Path(__file__).parent / "programs/envtest")
RUN_SECONDS = 60.0
"""On a quiet machine, with both programs."""


@pytest.fixture
def program(aloud: Aloud) -> Path:
    """The program with controller-runtime's envtest."""
    with aloud():
        return built(PROGRAM)


def test_envtest_starts_the_pair_installs_watches_and_stops(program: Path, tmp_path: Path) -> None:
    assets = write_assets(tmp_path / "assets", os.environ)
    folder = tmp_path / "temporary"
    folder.mkdir()
    ran = subprocess.run(
        [program],
        env={**os.environ, "KUBEBUILDER_ASSETS": str(assets), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=patience.seconds(RUN_SECONDS),
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "started\npassed\n"), ran.stderr
    assert list(folder.iterdir()) == [], "nothing is left"


def test_a_flag_that_cannot_be_honoured_ends_it_by_name(program: Path, tmp_path: Path) -> None:
    assets = write_assets(tmp_path / "assets", os.environ)
    ran = subprocess.run(
        [program],
        env={
            **os.environ,
            "KUBEBUILDER_ASSETS": str(assets),
            "APISERVER_FLAG": "oidc-issuer-url=https://127.0.0.1:1",
        },
        capture_output=True,
        text=True,
        timeout=patience.seconds(RUN_SECONDS),
        check=False,
    )
    assert ran.returncode == 1
    assert "--oidc-issuer-url is not supported here" in ran.stderr
