"""Ansible's collection for Kubernetes, unmodified, before a cluster of ours."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

import patience
from foreign import ProgramError
from foreign.catalogue import ANSIBLE
from interop.conftest import Aloud

PLAYBOOK = Path(__file__).parent / "programs/scale.yaml"
WITHIN_SECONDS = 60.0


@pytest.fixture
def python(aloud: Aloud) -> Path:
    """The Python that has Ansible, with its collections."""
    try:
        with aloud():
            return ANSIBLE.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


async def test_ansible_makes_scales_reads_and_deletes_a_deployment(
    python: Path, kubeconfig: Path, tmp_path: Path
) -> None:
    words = ("-i", "localhost,", "-e", f"ansible_python_interpreter={python}", str(PLAYBOOK))
    process = await asyncio.create_subprocess_exec(
        *(python, "-m", "ansible", "playbook", *words),
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "KUBECONFIG": str(kubeconfig),
            "LC_ALL": "C.UTF-8",
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with patience.within(WITHIN_SECONDS):
            printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, printed.decode()
    assert "failed=0" in printed.decode()
