"""The wheel of an installed package holds what was installed."""

from __future__ import annotations

import csv
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

from quintant.cli.new.wheel import pack_installed


def test_an_installed_package_is_packed_as_it_came(tmp_path: Path) -> None:
    name = pack_installed(distribution("click"), tmp_path)
    version = distribution("click").version
    assert name == f"click-{version}-py3-none-any.whl"
    program = "import click; print(click.__file__)"
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path / name)!r})\n{program}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(str(tmp_path))
    with ZipFile(tmp_path / name) as wheel:
        listed = {
            row[0]
            for row in csv.reader(
                wheel.read(f"click-{version}.dist-info/RECORD").decode().splitlines()
            )
        }
        assert listed == set(wheel.namelist())


def test_what_an_installer_wrote_is_left_out(tmp_path: Path) -> None:
    with ZipFile(tmp_path / pack_installed(distribution("click"), tmp_path)) as wheel:
        names = {Path(name).name for name in wheel.namelist()}
    assert {"METADATA", "WHEEL", "__init__.py"} <= names
    assert not names & {"INSTALLER", "REQUESTED", "direct_url.json"}
