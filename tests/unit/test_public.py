"""The public surface is complete, sorted, explained, and speaks of nothing but itself."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import quintant
import quintant.testing
from quintant.runtime import apply, webhook

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PACKAGES = (quintant, quintant.testing, apply, webhook)
LAZY = (quintant, quintant.testing)

# Words of somebody's machine, workplace or moment; whoever reads this knows none of them.
# They are put together here, so that this file has none of them either.
FOREIGN = re.compile(
    rf"/{'work'}/|/{'home'}/(?!operator\b)|/tmp/{'brief'}|py{'pi'}[.]org|python{'hosted'}"
    rf"|(?<!-)\b{'seed'}s? \d{{3}}\b|\b{'issue'} #?\d{{1,2}}\b|\b{'spec'}/\w+[.]md|\b{'shared'}/\w"
    rf"|\b{'TO'}DO\b|\b{'FIX'}ME\b"
)
TEXTS = (".py", ".md", ".toml", ".yaml", ".txt", "Makefile", "run")
SKIPPED = {".git", ".venv", "__pycache__"}


def files() -> list[Path]:
    found = (path for path in ROOT.rglob("*") if not SKIPPED & set(path.parts))
    named = (path for path in found if path.name.endswith(TEXTS) and path.is_file())
    return [path for path in named if not any(part.endswith("_cache") for part in path.parts)]


def imported(package: ModuleType) -> set[str]:
    """The names that a lazy package imports for type checkers."""
    tree = ast.parse(Path(package.__file__ or "").read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").startswith("quintant.")]
    return {alias.asname or alias.name for node in ours for alias in node.names} - {"lazy"}


def rank(name: str) -> tuple[int, str]:
    """Constants, classes, functions, each by name: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_public_names_are_sorted_and_importable(package: ModuleType) -> None:
    assert list(package.__all__) == sorted(package.__all__, key=rank)
    for name in package.__all__:
        assert getattr(package, name) is not None or name == "DONE"


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_what_checkers_see_is_what_can_be_imported(package: ModuleType) -> None:
    assert imported(package) == set(package.__all__) == set(dir(package))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = quintant.Nothing


def test_importing_quintant_loads_none_of_its_dependencies() -> None:
    heavy = {"websockets", "cryptography", "msgspec", "prometheus_client", "structlog", "yaml"}
    code = f"import quintant, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_public_classes_and_functions_are_explained(package: ModuleType) -> None:
    values = {name: getattr(package, name) for name in package.__all__}
    named = {n: v for n, v in values.items() if inspect.isclass(v) or inspect.isfunction(v)}
    assert named
    assert [name for name, value in named.items() if not inspect.getdoc(value)] == []


def test_every_module_says_what_it_is() -> None:
    silent = [path for path in SOURCES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


def test_every_module_can_be_imported() -> None:
    for path in SOURCES:
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        import_module(".".join(part for part in parts if part != "__init__"))


def test_no_file_speaks_of_the_place_it_was_written_at() -> None:
    found = {
        (str(path.relative_to(ROOT)), hit.group())
        for path in files()
        for hit in FOREIGN.finditer(path.read_text(errors="replace"))
    }
    assert found == set()
