"""The reference has every public name with its docstring, and its links lead somewhere."""

from __future__ import annotations

import importlib
import re
from pathlib import Path, PurePosixPath

import pytest

import quintant
import quintant.testing
from docsite.declarations import Sources
from docsite.page_imports import page_imports
from docsite.pages import documents
from docsite.reference import PROGRAM, Reference
from docsite.signatures import heads

ROOT = Path(__file__).parents[4]
FRONT = (ROOT / "scripts/docsite/front.md").read_text()
REFERENCE = Reference(ROOT)
PAGES = REFERENCE.pages()
NAMES = [path.stem for path in PAGES]
HEADING = re.compile(r"^#{3,4} .* \{ #(\S+) \}$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]*)#?([\w.]*)\)")


def page(name: str) -> str:
    return PAGES[PurePosixPath("reference") / f"{name}.md"]


def declared(folder: Path, text: str, name: str) -> str:
    """The head of what a module of that text declares under a name."""
    (folder / "m.py").write_text(text)
    return heads(Sources(folder).find("m", name))


def test_every_public_name_is_described() -> None:
    for module in (quintant, quintant.testing):
        described = HEADING.findall(page(module.__name__))
        assert set(module.__all__) <= set(described)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_page_has_a_docstring(name: str) -> None:
    assert [each.name for each in REFERENCE.public(name) if not each.docstring] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_name_can_be_imported_as_the_page_says(name: str) -> None:
    module = importlib.import_module(PROGRAM.get(name, name))
    for each in REFERENCE.public(name):
        assert hasattr(module, each.name)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_to_a_name(name: str) -> None:
    for file, anchor in LINK.findall(page(name)):
        target = page(file.removesuffix(".md")) if file else page(name)
        assert not anchor or anchor in HEADING.findall(target)


def test_every_module_of_kinds_has_a_page() -> None:
    kinds = {path.stem for path in (ROOT / "src/quintant/api").glob("[!_]*.py")}
    assert {name for name in NAMES if name.startswith("quintant.api.")} == {
        f"quintant.api.{each}" for each in kinds
    }


def test_what_pages_import_beside_is_there_and_said_to_change(tmp_path: Path) -> None:
    text = (
        "from quintant.core.a import x, y as z\n    from quintant.client.b import (\n  c,  # d\n)\n"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text(f"{text}from quintant.core import d\n")
    assert page_imports(tmp_path) == {"quintant.client.b": ("c",), "quintant.core.a": ("x", "y")}
    assert "may change at any time" in page("quintant.core.schema.markers")


def test_a_module_without_a_path_of_its_own_is_imported_from_its_package() -> None:
    assert "```python\nfrom quintant import errors\n```" in page("quintant.errors")


def test_members_of_bases_that_no_page_describes_are_there() -> None:
    described = HEADING.findall(page("quintant"))
    assert {"Manager.controls", "Manager.run", "Client.get", "Client.apply"} <= set(described)
    assert "Custom.like" not in described


def test_the_navigation_has_every_page_of_the_reference() -> None:
    listed = [each for section in REFERENCE.sections() for each in section.pages]
    assert sorted(listed) == sorted(map(str, PAGES))


def test_a_short_head_is_one_line_and_a_long_one_has_a_line_for_each_parameter(
    tmp_path: Path,
) -> None:
    short = "def f(a: int, /, b: str = 'x', *, c=None, **d: int) -> None: ..."
    assert declared(tmp_path, short, "f") == short.removesuffix(": ...")
    names = [f"parameter_{at}" for at in range(9)]
    lines = declared(tmp_path, f"async def f({', '.join(names)}) -> int: ...", "f").splitlines()
    assert lines == ["async def f(", *(f"    {each}," for each in names), ") -> int"]


def test_overloads_stand_for_what_they_overload(tmp_path: Path) -> None:
    text = "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a):\n    'x'\n"
    assert declared(tmp_path, text, "f") == "def f(a: int)\ndef f(a: str)"
    assert Sources(tmp_path).find("m", "f").docstring == "x"


def test_a_class_shows_its_fields_and_how_it_is_made(tmp_path: Path) -> None:
    text = "class C(B):\n    x: int = 1\n    'about x'\n    _y = 2\n    def __init__(self, a): ..."
    assert declared(tmp_path, text, "C") == ("class C(B):\n    x: int = 1\n    def __init__(a)")


def test_what_a_package_exports_is_found_where_it_is_declared(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/__init__.py").write_text("if TYPE_CHECKING:\n    from p.q import x as y\n")
    (tmp_path / "p/q.py").write_text("x = 1\n'about x'\n")
    found = Sources(tmp_path).find("p", "y")
    assert (found.module, found.name, found.docstring) == ("p.q", "x", "about x")
    with pytest.raises(LookupError, match="p has no z"):
        Sources(tmp_path).find("p", "z")


def test_the_front_page_leads_to_pages_that_are_there() -> None:
    there = {*documents(ROOT), "by-task.md", *map(str, PAGES)}
    links = re.findall(r"\]\(([^)#]+)", FRONT)
    assert len(links) > 5
    assert set(links) <= there


def test_the_front_page_has_what_for_whom_two_commands_a_picture_and_a_comparison() -> None:
    assert "<svg" in FRONT
    assert re.findall(r"^make (\w+)", FRONT, re.MULTILINE) == ["demo", "test"]
    assert "(comparison.md)" in FRONT
