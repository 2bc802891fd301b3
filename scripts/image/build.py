"""`make image`: the image and its SBOM, with what this machine's pip needs lent to the build."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from foreign.errors import ProgramError, Report
from image.engine import Build, Engine
from image.pip_settings import certificates, for_build, settings

ROOT = Path(__file__).parents[2]
CONTAINERFILE = Path("deploy/Containerfile")
DEFAULT_BASE = "python:3.11-slim"
TARGET = "quintant"
SBOM_IN_IMAGE = "/opt/quintant/sbom.cdx.json"
SBOM_NAME = "quintant-{version}.cdx.json"


def version() -> str:
    """Of Quintant, which is also the tag of its image."""
    found = re.search(r'^QUINTANT = "([^"]+)"', _version_module().read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def _version_module() -> Path:
    return ROOT / "src" / "quintant" / "version.py"


def arguments(base: str, revision: str, committed: int | None) -> dict[str, str]:
    """What only this build knows, most of it for labels."""
    return {
        "BASE": base,
        "BASE_DIGEST": base.partition("@")[2],
        "VERSION": version(),
        "REVISION": revision,
        "CREATED": _moment(committed) if committed is not None else "",
    }


def _moment(seconds: int) -> str:
    """Of the commit, and not of today: the same source gives the same image."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def plan(base: str, tag: str, target: str = TARGET, context: Path = ROOT) -> Build:
    """What is to be built from a source tree."""
    revision, committed = _git("rev-parse", "HEAD"), _git("log", "-1", "--format=%ct")
    return Build(
        containerfile=context / CONTAINERFILE,
        context=context,
        tag=tag,
        target=target,
        arguments=arguments(base, revision, int(committed) if committed else None),
    )


def build_image(engine: Engine, build: Build, environ: Mapping[str, str], report: Report) -> None:
    """Build it, and say how long that took; ProgramError if it cannot be built."""
    started = time.monotonic()
    with lent_secrets(environ) as secrets:
        code = engine.run_build(replace(build, secrets=secrets), environ)
    if code != 0:
        raise ProgramError(
            "cannot build the image",
            why=f"{engine.name} ended with {code}; its last lines are above",
            hint="if it is the base, BASE=registry.example.com/python:3.11-slim; if it is pip, "
            "PIP_INDEX_URL and PIP_CERT are lent to the build",
        )
    report(f"built {build.tag} with {engine.name} in {time.monotonic() - started:.0f} s")


@contextmanager
def lent_secrets(environ: Mapping[str, str]) -> Iterator[dict[str, Path]]:
    """Files for the time of a build, in a folder that nobody else may read."""
    found = settings(environ)
    authorities = certificates(found, environ)
    with tempfile.TemporaryDirectory(prefix="quintant-image.") as folder:
        config = Path(folder) / "pip.conf"
        config.write_text(for_build(found, with_certificates=authorities is not None))
        lent = {"pip_conf": config}
        yield lent | {"ca": authorities} if authorities is not None else lent


def write_sbom(engine: Engine, tag: str, folder: Path) -> Path:
    """Put a copy of the image's SBOM beside it."""
    folder.mkdir(exist_ok=True)
    target = folder / SBOM_NAME.format(version=version())
    target.write_bytes(engine.read_file(tag, SBOM_IN_IMAGE))
    return target


def _git(*words: str) -> str:
    """What git says, or nothing: a source archive is no repository."""
    try:
        line = ("git", "-C", str(ROOT), *words)
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
