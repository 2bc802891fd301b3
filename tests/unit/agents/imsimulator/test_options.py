from __future__ import annotations

import tempfile
from pathlib import Path

from quintant.agents.imsimulator.options import parse


def test_the_folder_is_the_one_for_temporary_files_unless_it_is_named() -> None:
    assert parse([]).folder == Path(tempfile.gettempdir())
    assert parse(["--folder", "/data"]).folder == Path("/data")
