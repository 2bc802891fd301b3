"""What has to be true of the image, as functions of its layers: each says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from image.archive import Entry, Image

MEGABYTE = 1_000_000
BUDGET_BYTES = 200 * MEGABYTE
"""With the base, uncompressed."""
OPENSHIFT = (1_000_680_000, 0)
"""A user as OpenShift gives one: any number, of the group root."""
LABELS = {
    f"org.opencontainers.image.{name}"
    for name in ("title", "description", "licenses", "vendor", "version", "base.name")
}
COMPILERS = re.compile(
    r"(.*-)?(cc|c\+\+|gcc|g\+\+|cpp|clang|ld|as|tcc|make|rustc|cargo|go|javac)(-?\d[\d.]*)?"
)
INSTALLERS = re.compile(r"pip[\d.]*|easy_install.*|uv|conda|apt(-.*)?|dpkg(-.*)?|perl.*")
PACKAGES = re.compile(r"(pip|setuptools|wheel|ensurepip|hatchling)(-.*\.dist-info)?|pip-.*\.whl")
SCRATCH = "/tmp"
"""The one folder that everybody may write to, where the root is not read-only."""
_PROGRAM_FOLDERS = ("bin", "sbin")
_DIST_INFO = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)\.dist-info")
_SET_ID = 0o6000


def complaints(image: Image, sbom: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with an image."""
    root = image.root()
    return [
        *wrong_size(image), *wrong_configuration(image.config["config"]), *tools(root),
        *writable(root, _numbers(image)), *writable(root, OPENSHIFT), *uncompiled(root),
        *settings_left(root), *unlisted(root, sbom),
    ]  # fmt: skip


def wrong_size(image: Image) -> Iterator[str]:
    """The budget."""
    if image.size > BUDGET_BYTES:
        yield f"it has {image.size / MEGABYTE:.0f} MB, more than {BUDGET_BYTES // MEGABYTE}"


def wrong_configuration(config: Mapping[str, Any]) -> Iterator[str]:
    """Labels, user, entry point."""
    given = config.get("Labels") or {}
    yield from (f"the label {each} is missing" for each in sorted(LABELS) if not given.get(each))
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", config.get("User", "")):
        yield f"its user is {config.get('User')!r}, and not two numbers above zero"
    if config.get("Entrypoint") != ["quintant"]:
        yield f"its entry point is {config.get('Entrypoint')}"


def tools(root: Mapping[str, Entry]) -> Iterator[str]:
    """Compilers, and what installs software."""
    for path in root:
        at = PurePosixPath(path)
        runs = at.parent.name in _PROGRAM_FOLDERS
        if runs and (COMPILERS.fullmatch(at.name) or INSTALLERS.fullmatch(at.name)):
            yield f"{path} compiles or installs"
        elif PACKAGES.fullmatch(at.name) and _is_library(at):
            yield f"{path} is there for installing"


def _is_library(path: PurePosixPath) -> bool:
    return path.parent.name in ("site-packages", "dist-packages", "python-wheels") or (
        path.parent.name.startswith("python3")
    )


def writable(root: Mapping[str, Entry], who: tuple[int, int]) -> Iterator[str]:
    """What a user could change, or become another user by."""
    uid, gid = who
    for path, entry in root.items():
        if entry.kind not in ("file", "folder"):
            continue
        shift = 6 if entry.uid == uid else 3 if entry.gid == gid else 0
        if entry.mode >> shift & 0o2 and path != SCRATCH:
            yield f"{path} can be written by {uid}:{gid}"
        if entry.kind == "file" and entry.mode & _SET_ID:
            yield f"{path} runs as another user"


def uncompiled(root: Mapping[str, Entry]) -> Iterator[str]:
    """Modules of ours without bytecode: each process would compile them again."""
    ours = (PurePosixPath(path) for path in root if "/site-packages/quintant/" in path)
    for at in (each for each in ours if each.suffix == ".py"):
        compiled = f"{at.parent}/__pycache__/{at.stem}."
        if not any(f"{compiled}cpython-3{minor}.pyc" in root for minor in range(11, 20)):
            yield f"{at} is not compiled"


def settings_left(root: Iterable[str]) -> Iterator[str]:
    """What was lent to the build."""
    for path in root:
        if path.startswith("/run/secrets/") or PurePosixPath(path).name == "pip.conf":
            yield f"{path} is of the machine that built it"


def unlisted(root: Iterable[str], sbom: Mapping[str, Any]) -> Iterator[str]:
    """Distributions that the SBOM does not know."""
    parts = [sbom["metadata"]["component"], *sbom["components"]]
    listed = {(each["name"], each["version"]) for each in parts}
    found = distributions(root)
    yield from (f"the SBOM lacks {name} {version}" for name, version in sorted(found - listed))
    if len(found) < 2:
        yield "there are no distributions"


def distributions(root: Iterable[str]) -> set[tuple[str, str]]:
    """Name and version of everything that pip installed."""
    names = (PurePosixPath(path) for path in root)
    matches = (_DIST_INFO.fullmatch(at.name) for at in names if at.parent.name == "site-packages")
    return {(re.sub(r"[-_.]+", "-", m["name"]).lower(), m["version"]) for m in matches if m}


def _numbers(image: Image) -> tuple[int, int]:
    uid, _, gid = image.config["config"].get("User", "0:0").partition(":")
    return int(uid or 0), int(gid or 0)
