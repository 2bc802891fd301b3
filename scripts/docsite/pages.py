"""Every page of the website as Markdown: those of `docs/`, and what they lead to elsewhere."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from docsite.links import DOCS, is_picture, page_of, rewritten, targets
from docsite.lists import widened

# `python fragment` is for our tests; a website knows languages alone.
_FENCE_INFO = re.compile(r"^( *```\w+) .*$", re.MULTILINE)
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".toml": "toml", ".json": "json", ".go": "go"}
# Longer than any fence that a file may have inside.
_FENCE = "~" * 12


def documents(root: Path) -> list[str]:
    """Return the names of the pages of `docs/`."""
    return sorted(path.name for path in (root / DOCS).glob("*.md"))


def pages(root: Path) -> Mapping[PurePosixPath, str]:
    """Return the text of every page: where it stands on the website, and its Markdown."""
    texts = {each: _text(root, each) for each in _reached(root) if not is_picture(each)}
    return {page_of(root, each): rewritten(root, each, text) for each, text in texts.items()}


def pictures(root: Path) -> Mapping[PurePosixPath, Path]:
    """Return the pictures of the pages: where each stands on the website, and its file."""
    return {page_of(root, each): root / each for each in _reached(root) if is_picture(each)}


def _reached(root: Path) -> Iterator[PurePosixPath]:
    """Yield the pages of `docs/`, and every file and folder that links lead to."""
    waiting = [DOCS / name for name in documents(root)]
    seen = set(waiting)
    while waiting:
        source = waiting.pop()
        yield source
        if not is_picture(source):
            found = dict.fromkeys(targets(root, source, _text(root, source)))
            further = [each for each in found if each not in seen]
            seen.update(further)
            waiting.extend(further)


def _text(root: Path, source: PurePosixPath) -> str:
    path = root / source
    if path.is_dir():
        return _listing(root, source)
    if path.suffix == ".md":
        return widened(_FENCE_INFO.sub(r"\1", path.read_text()))
    language = _LANGUAGES.get(path.suffix, "text")
    return f"# {source}\n\n{_FENCE}{language}\n{path.read_text().rstrip()}\n{_FENCE}\n"


def _listing(root: Path, folder: PurePosixPath) -> str:
    """Return a page with a link to every file of a folder, as if it had been written there."""
    files = [file.relative_to(root / folder).as_posix() for file in _files(root / folder)]
    # The links are those of a page that lies beside the folder.
    lines = [f"- [{file}]({folder.name}/{file})" for file in files]
    return f"# {folder}\n\n" + "\n".join(lines) + "\n"


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path
