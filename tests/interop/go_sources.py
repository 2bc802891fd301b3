"""Programs in Go that are ours, around libraries of others, or tests that are skipped aloud."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foreign import ProgramError
from foreign.own_program import OwnProgram


def built(program: OwnProgram) -> Path:
    """The program; skipped aloud without Go or its modules."""
    try:
        return program.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))
