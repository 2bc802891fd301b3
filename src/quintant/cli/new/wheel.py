"""The wheel of Quintant that a project installs: a given one, one of a source folder, or ours.

An editable installation is its source folder, of which a wheel is built; any other is packed as it
was installed.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import shutil
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from quintant.core.errors import ConfigError
from quintant.origin import origin_of

_LEFT_OUT = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What an installer wrote about this installation."""


def provide_wheel(folder: Path, source: Path | None) -> str:
    """Put a wheel of Quintant into a folder; its file name."""
    folder.mkdir(parents=True, exist_ok=True)
    installed = distribution("quintant")
    origin = origin_of(installed)
    found = source or (Path(origin.path) if origin.editable else None)
    if found is None:
        return pack_installed(installed, folder)
    return _build(found, folder) if found.is_dir() else _copy(found, folder)


def pack_installed(installed: Distribution, folder: Path) -> str:
    """Pack the files of a pure installed package as the wheel they came from; its file name."""
    name = installed.metadata["Name"].replace("-", "_")
    about = f"{name}-{installed.version}.dist-info"
    target = f"{name}-{installed.version}-py3-none-any.whl"
    record = io.StringIO()
    lines = csv.writer(record, lineterminator="\n")
    with ZipFile(folder / target, "w") as wheel:
        for path in sorted(installed.files or (), key=str):
            # Scripts lie elsewhere, and are made again.
            if path.parts[0] == ".." or path.suffix == ".pyc" or path.name in _LEFT_OUT:
                continue
            content = path.read_binary()
            wheel.writestr(ZipInfo(path.as_posix()), content, ZIP_DEFLATED)
            lines.writerow((path.as_posix(), f"sha256={_digest(content)}", len(content)))
        lines.writerow((f"{about}/RECORD", "", ""))
        wheel.writestr(ZipInfo(f"{about}/RECORD"), record.getvalue())
    return target


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _copy(wheel: Path, folder: Path) -> str:
    if not (wheel.name.startswith("quintant-") and wheel.suffix == ".whl"):
        raise ConfigError(
            f"cannot use {wheel}",
            because="it is neither a wheel of Quintant nor a folder with its source",
            hint="--from dist/quintant-0.1.0-py3-none-any.whl",
        )
    shutil.copy(wheel, folder)
    return wheel.name


def _build(source: Path, folder: Path) -> str:
    """Build the wheel of a source folder, with the tools that are here or else of an index."""
    isolated = () if find_spec("hatchling") is None else ("--no-build-isolation",)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", *isolated, "--wheel-dir", str(folder), str(source)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise ConfigError(
            f"cannot build a wheel of {source}",
            because=lines[-1] if lines else f"pip ended with code {done.returncode}",
            hint="make package there, and give --from dist/quintant-0.1.0-py3-none-any.whl",
        )
    (built,) = folder.glob("quintant-*.whl")
    return built.name
