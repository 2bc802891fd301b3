"""One version everywhere: in the package, the charts, the images that files name, the changelog."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHANGELOG = "CHANGELOG.md"
UNRELEASED = "Unreleased"
_FOLDERS = ("deploy", "docs", "examples")
_SUFFIXES = ("", ".md", ".yaml")
_OURS = re.compile(r"\bquintant:(?P<version>\d[\w.+-]*)")
_CHART = re.compile(r'^(?P<field>version|appVersion): "?(?P<version>[^"\n]+)"?$', re.MULTILINE)
_SECTION = re.compile(r"^## (?P<title>\S+)(?: \((?P<date>\d{4}-\d{2}-\d{2})\))?$", re.MULTILINE)


class Declared(NamedTuple):
    """A version, and the file that names it."""

    path: str
    what: str
    version: str


class Entry(NamedTuple):
    """A section of the changelog."""

    date: str
    text: str


def declared(root: Path) -> Iterator[Declared]:
    """Yield every version of ours that charts, manifests, examples and pages name."""
    for path in sorted((root / "deploy/charts").glob("*/Chart.yaml")):
        for found in _CHART.finditer(path.read_text()):
            yield Declared(_name(root, path), found["field"], found["version"])
    for path in _files(root):
        for found in _OURS.finditer(path.read_text()):
            yield Declared(_name(root, path), "image", found["version"])


def entries(changelog: str) -> dict[str, Entry]:
    """Return the sections of a changelog by their versions."""
    found = list(_SECTION.finditer(changelog))
    ends = [each.start() for each in found[1:]] + [len(changelog)]
    return {
        each["title"]: Entry(each["date"] or "", changelog[each.end() : end].strip())
        for each, end in zip(found, ends, strict=True)
    }


def inconsistencies(root: Path, version: str) -> Iterator[str]:
    """Yield what does not have this version, a line each."""
    for each in sorted(set(declared(root))):
        if each.version != version:
            yield f"{each.path}: {each.what} is {each.version}, not {version}"
    entry = entries((root / CHANGELOG).read_text()).get(version, Entry("", ""))
    if not (entry.date and entry.text):
        yield f"{CHANGELOG}: no section `## {version} (YYYY-MM-DD)` with text"


def unreleasable(root: Path, version: str, tag: str) -> Iterator[str]:
    """Yield why this tag cannot be published from this tree, a line each."""
    if tag != f"v{version}":
        yield f"the tag is {tag}, and the version v{version}"
    if entries((root / CHANGELOG).read_text()).get(UNRELEASED, Entry("", "")).text:
        yield f"{CHANGELOG}: `{UNRELEASED}` has text, which belongs to a version"


def missing_archives(dist: Path, version: str) -> Iterator[str]:
    """Yield the archives of the package that were not built."""
    for name in (f"quintant-{version}-py3-none-any.whl", f"quintant-{version}.tar.gz"):
        if not (dist / name).is_file():
            yield f"{dist.name}/{name} was not built"


def _files(root: Path) -> Iterator[Path]:
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                yield path


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
