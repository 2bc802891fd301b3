"""Links of a page of the repository, as they have to be on the website.

A page of `docs/` stands at the top. What it links to outside of `docs/` comes along in a folder
`project`: Markdown as it is, a folder as a list of its files, another file as a page with its text.
A picture stays one. The front page is the website's own, so that of `docs/` has another name.
"""

import re
from collections.abc import Callable, Iterator
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath

DOCS = PurePosixPath("docs")
PROJECT = PurePosixPath("project")
FRONT = PurePosixPath("index.md")
TASKS = PurePosixPath("by-task.md")
_PICTURES = (".png", ".svg", ".jpg", ".gif", ".webp")
_README = "README.md"
_FENCE = re.compile(r"^ *(```|~~~)")
_LINK = re.compile(r"\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")


def page_of(root: Path, target: PurePosixPath) -> PurePosixPath:
    """Return where a file or folder of the repository stands among the pages of the website."""
    if target == DOCS / FRONT:
        return TASKS
    if target.is_relative_to(DOCS) and (target.suffix == ".md" or is_picture(target)):
        return target.relative_to(DOCS)
    if is_picture(target):
        return PROJECT / target
    if (root / target).is_dir():
        return PROJECT / target / "files.md"
    if target.name == _README:
        # A website takes README.md for the front page of its folder.
        return PROJECT / target.with_name("about.md")
    return PROJECT / (target if target.suffix == ".md" else target.with_name(f"{target.name}.md"))


def is_picture(target: PurePosixPath) -> bool:
    """Say whether a file is shown as it is."""
    return target.suffix in _PICTURES


def targets(root: Path, source: PurePosixPath, text: str) -> Iterator[PurePosixPath]:
    """Yield the files and folders of the repository that a page links to."""
    for line in _prose(text):
        for link in _LINK.finditer(line):
            if (target := _target(root, source, link)) is not None:
                yield target


def rewritten(root: Path, source: PurePosixPath, text: str) -> str:
    """Return the text of a page with its links as the website has them."""

    def replaced(link: re.Match[str]) -> str:
        target = _target(root, source, link)
        if target is None:
            return link[0]
        return f"]({relative(root, source, target)}{link['anchor'] or ''})"

    return "".join(_changed(text, lambda line: _LINK.sub(replaced, line)))


def relative(root: Path, source: PurePosixPath, target: PurePosixPath) -> str:
    """Return the link from the page of one file to that of another."""
    return relpath(page_of(root, target), page_of(root, source).parent)


def _target(root: Path, source: PurePosixPath, link: re.Match[str]) -> PurePosixPath | None:
    path = PurePosixPath(normpath(source.parent / link["path"]))
    inside = ".." not in path.parts and not path.is_absolute()
    return path if inside and (root / path).exists() else None


def _prose(text: str) -> list[str]:
    found: list[str] = []

    def keep(line: str) -> str:
        found.append(line)
        return line

    for _ in _changed(text, keep):
        pass
    return found


def _changed(text: str, change: Callable[[str], str]) -> Iterator[str]:
    """Yield every line, changed where it is not code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
            yield line
        else:
            yield line if fence else change(line)
