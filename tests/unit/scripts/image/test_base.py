from __future__ import annotations

import os
from pathlib import Path

import pytest

from foreign.errors import ProgramError
from image.base import provide_base

KILLED = """\
#!/bin/sh
mktemp -d "$TMPDIR/mmdebstrap.XXXXXX"
kill -9 $$
"""
MAKING = """\
#!/bin/sh
for word; do case $word in */base.tar) target=$word ;; esac; done
ls "$TMPDIR" > "$target"
"""


def silent(_: str) -> None:
    pass


def test_what_a_killed_one_left_is_gone_once_the_next_makes_the_base(tmp_path: Path) -> None:
    program, cache = tmp_path / "mmdebstrap", tmp_path / "cache"
    path = f"{tmp_path}:{os.environ['PATH']}"
    environ = {"PATH": path, "QUINTANT_CACHE": str(cache), "TMPDIR": str(tmp_path)}
    program.write_text(KILLED)
    program.chmod(0o755)
    with pytest.raises(ProgramError, match="cannot make a base"):
        provide_base(environ, silent)
    program.write_text(MAKING)
    made = provide_base(environ, silent)
    assert made.read_text() == "base.tar\n"
    assert [path.name for path in tmp_path.rglob("mmdebstrap.*")] == []
