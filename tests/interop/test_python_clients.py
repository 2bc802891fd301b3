"""Clients of others, written in Python: each does what its users do with it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from foreign import ProgramError, PythonProgram
from foreign.catalogue import KR8S, KUBERNETES_ASYNCIO, LIGHTKUBE
from interop.conftest import Aloud

CLIENTS = (KR8S, LIGHTKUBE, KUBERNETES_ASYNCIO)
PROGRAMS = Path(__file__).with_name("programs")
WITHIN_SECONDS = 60.0


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest, aloud: Aloud) -> tuple[Path, Path]:
    """The Python that has a client installed, and the program that uses it."""
    program: PythonProgram = request.param
    try:
        with aloud():
            python = program.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))
    return python, PROGRAMS / f"with_{program.name}.py"


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
