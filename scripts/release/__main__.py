"""`python -m release check|notes`: everything about a release that needs no credentials.

Archives are those in `dist/`, built before. Programs of others run in environments of their own.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foreign.catalogue import ACTIONLINT, HELM, TWINE, ZIZMOR
from foreign.errors import ProgramError, announce, explain
from image.build import version
from release.versions import CHANGELOG, entries, inconsistencies, missing_archives, unreleasable
from release.workflows import unpinned

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
WORKFLOWS = ROOT / ".github" / "workflows"
Line = tuple[str, Sequence[str]]
"""What a command looks for, and its words."""


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command; return the exit code."""
    parser = argparse.ArgumentParser(prog="release", description="What a release has to be.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="versions, archives, charts, workflows")
    check.add_argument("--tag", default="", help="the tag that is to be published")
    commands.add_parser("notes", help="print the changelog of this version")
    options = parser.parse_args(arguments)
    if options.command == "notes":
        print(entries((ROOT / CHANGELOG).read_text())[version()].text)
        return 0
    try:
        _check(options.tag, environ)
    except ProgramError as error:
        explain(error)
        return 1
    print(f"quintant {version()} can be released" if options.tag else f"{version()} is consistent")
    return 0


def _check(tag: str, environ: Mapping[str, str]) -> None:
    _refuse_if(list(_complaints(tag)))
    for what, line in _lines(environ):
        announce(what)
        if (code := subprocess.run(line, cwd=ROOT, check=False).returncode) != 0:
            _refuse_if([f"{what}: {Path(line[0]).name} ended with {code}; its lines are above"])


def _complaints(tag: str) -> Iterator[str]:
    yield from inconsistencies(ROOT, version())
    if tag:
        yield from unreleasable(ROOT, version(), tag)
    yield from missing_archives(DIST, version())
    for path in sorted(WORKFLOWS.glob("*.yaml")):
        yield from (f"{path.name}: {each} is not pinned" for each in unpinned(path.read_text()))


def _lines(environ: Mapping[str, str]) -> Iterator[Line]:
    names = (f"quintant-{version()}-py3-none-any.whl", f"quintant-{version()}.tar.gz")
    archives = [str(DIST / name) for name in names]
    twine = str(TWINE.provide(environ))
    yield "the archives", (twine, "-m", "twine", "check", "--strict", *archives)
    helm = str(HELM.provide(environ))
    for chart in sorted((ROOT / "deploy/charts").iterdir()):
        yield f"chart {chart.name}", (helm, "package", str(chart), "--destination", str(DIST))
    zizmor = str(ZIZMOR.provide(environ).with_name("zizmor"))
    quiet = ("--offline", "--no-progress", "--persona", "pedantic")
    yield "dangers of the workflows", (zizmor, *quiet, str(WORKFLOWS))
    yield "mistakes of the workflows", (str(ACTIONLINT.provide(environ)),)


def _refuse_if(complaints: Sequence[str]) -> None:
    if not complaints:
        return
    error = ProgramError(
        "this tree cannot be released",
        why=complaints[0] if len(complaints) == 1 else f"{len(complaints)} things are wrong, above",
        hint="read docs/releasing.md; `make manifests` writes versions into charts",
    )
    error.add_note("\n".join(complaints))
    raise error


if __name__ == "__main__":
    sys.exit(main())
