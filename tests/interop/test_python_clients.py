"""Clients of others, written in Python: each does what its users do with it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from interop.conftest import Aloud
from interop.environments import CannotInstall, provide_environment

CLIENTS = ("kr8s==0.20.15", "lightkube==1.0.1", "kubernetes_asyncio==36.1.0")
PROGRAMS = Path(__file__).with_name("programs")
WITHIN_SECONDS = 60.0


@pytest.fixture(params=CLIENTS, ids=lambda client: client.partition("==")[0])
def client(request: pytest.FixtureRequest, aloud: Aloud) -> tuple[Path, Path]:
    """The Python that has a client installed, and the program that uses it."""
    try:
        with aloud():
            python = provide_environment(request.param, os.environ)
    except CannotInstall as error:
        pytest.skip(f"cannot install {request.param}: {error}")
    return python, PROGRAMS / f"with_{request.param.partition('==')[0]}.py"


async def test_a_python_client_makes_reads_patches_watches_and_deletes(
    client: tuple[Path, Path], kubeconfig: Path
) -> None:
    environ = {"PATH": os.environ["PATH"], "KUBECONFIG": str(kubeconfig)}
    python, program = client
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        python, program, env=environ, stdout=pipe, stderr=pipe
    )
    async with asyncio.timeout(WITHIN_SECONDS):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    assert out.decode().splitlines()[-1] == "done"
