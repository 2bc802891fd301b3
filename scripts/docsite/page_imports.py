"""What pages and examples import from modules that `quintant` does not export.

Readers see these names there, so the reference has them, too; other names of those modules it has
not.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_MODULE = r"quintant\.(?:core|client|runtime)\.[\w.]+"
_IMPORT = re.compile(rf"^ *from ({_MODULE}) import (?:\(([^)]*)\)|([^\n(]+))", re.MULTILINE)
_COMMENT = re.compile(r"#.*")


def page_imports(root: Path) -> Mapping[str, tuple[str, ...]]:
    """Return the names that pages and examples import, by their modules; no modules among them."""
    found: dict[str, set[str]] = {}
    for text in _texts(root):
        for module, several, one in _IMPORT.findall(text):
            for name in _names(several or one):
                if not root.joinpath("src", *module.split("."), f"{name}.py").exists():
                    found.setdefault(module, set()).add(name)
    return {module: tuple(sorted(names)) for module, names in sorted(found.items())}


def _texts(root: Path) -> Iterator[str]:
    for path in sorted((*root.glob("docs/*.md"), *root.glob("examples/**/*.py"))):
        yield path.read_text()


def _names(text: str) -> Iterator[str]:
    for part in _COMMENT.sub("", text).split(","):
        if name := part.partition(" as ")[0].strip():
            yield name
