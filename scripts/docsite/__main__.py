"""`python -m docsite FOLDER`: build the website of `docs/` into a folder.

Zensical runs in an environment of its own, on a copy of the pages. What it made is read again
before it is handed out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from docsite.built import complaints
from docsite.configuration import configuration
from docsite.file_search import local
from docsite.links import FRONT, TASKS
from docsite.navigation import sections
from docsite.pages import pages, pictures
from docsite.reference import Reference
from foreign.catalogue import ZENSICAL
from foreign.errors import ProgramError, explain

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STYLE = "site.css"


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Build the website; return the exit code."""
    parser = argparse.ArgumentParser(prog="docsite", description="The pages of docs/ as a website.")
    parser.add_argument("folder", type=Path, help="what is in it is replaced")
    folder = parser.parse_args(arguments).folder
    try:
        with tempfile.TemporaryDirectory() as work:
            _build(ZENSICAL.provide(environ), Path(work), folder)
    except ProgramError as error:
        explain(error)
        return 1
    print(f"open {folder / 'index.html'}")
    return 0


def _build(python: Path, work: Path, folder: Path) -> None:
    reference = Reference(ROOT)
    _write_pages(work / "pages", reference)
    index = (ROOT / "docs" / FRONT).read_text()
    single = {"Home": str(FRONT), "By task": str(TASKS)}
    navigation = (*sections(index), *reference.sections())
    (work / "zensical.toml").write_text(configuration(single, navigation, (STYLE,)))
    _run_zensical(python, work)
    made = work / "site"
    for path in made.rglob("*.html"):
        path.write_text(local(path.read_text()))
    _check(made)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder)


def _write_pages(folder: Path, reference: Reference) -> None:
    front = {FRONT: (HERE / "front.md").read_text(), PurePosixPath(STYLE): _style()}
    for name, text in {**pages(ROOT), **reference.pages(), **front}.items():
        _ready(folder / name).write_text(text)
    for name, picture in pictures(ROOT).items():
        shutil.copyfile(picture, _ready(folder / name))


def _style() -> str:
    return (HERE / STYLE).read_text()


def _ready(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _run_zensical(python: Path, work: Path) -> None:
    line = (str(python), "-m", "zensical", "build", "--clean", "--strict")
    ran = subprocess.run(
        line, cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if ran.returncode != 0:
        error = ProgramError(
            "cannot build the website",
            why=f"zensical ended with code {ran.returncode}",
            hint="read what it printed, above",
        )
        error.add_note(ran.stdout)
        raise error


def _check(made: Path) -> None:
    if found := list(complaints(made)):
        error = ProgramError(
            "cannot build the website",
            why=f"{len(found)} of its references are broken or foreign, such as: {found[0]}",
            hint="mend the links of the pages, or scripts/docsite/links.py",
        )
        error.add_note("\n".join(found))
        raise error


if __name__ == "__main__":
    sys.exit(main())
