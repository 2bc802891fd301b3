"""The website of `docs/`: every page is in it once, links lead somewhere, nothing is fetched."""

from __future__ import annotations

import tomllib
from pathlib import Path, PurePosixPath

from docsite.built import complaints, read
from docsite.configuration import configuration
from docsite.file_search import local
from docsite.links import page_of, rewritten
from docsite.lists import widened
from docsite.navigation import Section, sections
from docsite.pages import documents, pages, pictures

ROOT = Path(__file__).parents[3]
INDEX = (ROOT / "docs/index.md").read_text()
FRONT = "index.md"


def repository(folder: Path, **files: str) -> Path:
    """A repository of few files; two underscores in a name are a slash, one before md a dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_every_page_of_docs_is_in_the_navigation_and_nothing_else_is() -> None:
    listed = [page for section in sections(INDEX) for page in section.pages]
    assert sorted([FRONT, *listed]) == documents(ROOT)


def test_the_front_page_is_the_websites_own_and_that_of_docs_has_another_name() -> None:
    assert page_of(ROOT, PurePosixPath("docs/index.md")) == PurePosixPath("by-task.md")
    assert PurePosixPath(FRONT) not in pages(ROOT)


def test_a_picture_stays_a_picture(tmp_path: Path) -> None:
    root = repository(tmp_path, docs__a_md="![x](images/x.png) ![y](../y.svg)")
    (root / "docs/images").mkdir()
    for name in ("docs/images/x.png", "y.svg"):
        (root / name).write_bytes(b"\x89")
    assert pictures(root) == {
        PurePosixPath("images/x.png"): root / "docs/images/x.png",
        PurePosixPath("project/y.svg"): root / "y.svg",
    }
    assert pages(root) == {PurePosixPath("a.md"): "![x](images/x.png) ![y](project/y.svg)"}


def test_the_navigation_has_the_order_of_the_front_page() -> None:
    assert [section.title for section in sections(INDEX)] == ["Write", "Run", "Operators", "Judge"]


def test_a_page_that_is_named_twice_belongs_to_its_first_section() -> None:
    rows = "## A\n| x | [a.md](a.md) |\n| y | [a.md](a.md#z) |\n## B\n| z | [a.md](a.md) |\n"
    assert sections(rows) == (Section("A", ("a.md",)),)


def test_the_configuration_takes_no_font_from_elsewhere_and_has_the_navigation() -> None:
    text = configuration({"Home": FRONT}, [Section("A", ("a.md", "b.md"))], ["site.css"])
    project = tomllib.loads(text)["project"]
    assert project["theme"]["font"] is False
    assert project["nav"] == [{"Home": FRONT}, {"A": ["a.md", "b.md"]}]
    assert project["extra_css"] == ["site.css"]


def test_colours_follow_the_machine_until_somebody_chooses() -> None:
    palettes = tomllib.loads(configuration({}, []))["project"]["theme"]["palette"]
    assert [each.get("scheme") for each in palettes] == [None, "default", "slate"]
    assert palettes[0]["media"] == "(prefers-color-scheme)"


def test_what_pages_lead_to_outside_of_docs_comes_along() -> None:
    made = pages(ROOT)
    assert PurePosixPath("project/ARCHITECTURE.md") in made
    assert PurePosixPath("project/examples/01_greeter.py.md") in made
    assert "01_greeter.py.md" in made[PurePosixPath("project/examples/files.md")]


def test_every_link_between_pages_leads_to_a_page(tmp_path: Path) -> None:
    root = repository(
        tmp_path, docs__a_md="[b](b.md#x) [r](../R.md) [p](../e/p.py)", docs__b_md="b"
    )
    source = PurePosixPath("docs/a.md")
    assert rewritten(root, source, "[b](b.md#x)") == "[b](b.md#x)"
    repository(tmp_path, R_md="[a](docs/a.md)", e__p_py="1")
    assert rewritten(root, source, "[r](../R.md)") == "[r](project/R.md)"
    assert rewritten(root, source, "[p](../e/p.py)") == "[p](project/e/p.py.md)"
    assert rewritten(root, source, "[e](../e)") == "[e](project/e/files.md)"
    assert pages(root)[PurePosixPath("b.md")] == "b"
    assert rewritten(root, PurePosixPath("R.md"), "[a](docs/a.md)") == "[a](../a.md)"


def test_links_in_code_and_to_elsewhere_stay_as_they_are(tmp_path: Path) -> None:
    root = repository(tmp_path, R_md="r")
    code = "```python\nx[0](../R.md)\n```\n"
    text = f"{code}[x](https://example.com/R.md) [up](../../R.md) [no](no.md)\n"
    assert rewritten(root, PurePosixPath("docs/a.md"), text) == text


def test_a_readme_is_not_taken_for_the_front_page_of_its_folder() -> None:
    assert page_of(ROOT, PurePosixPath("README.md")) == PurePosixPath("project/about.md")


def test_code_below_an_item_stays_in_the_item() -> None:
    assert widened("- a\n\n  ```sh\n  b\n  ```\nc\n  d\n") == (
        "- a\n\n    ```sh\n    b\n    ```\nc\n  d\n"
    )


def test_an_item_after_one_of_several_paragraphs_is_an_item() -> None:
    assert widened("- a\n\n  b\n- c\n- d\n") == "- a\n\n    b\n\n- c\n- d\n"


def test_lists_in_code_stay_as_they_are() -> None:
    yaml = "```yaml\n- name: a\n  image: b\n```\n"
    assert widened(yaml) == yaml


def test_what_a_page_would_fetch_from_elsewhere_is_a_complaint(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link href="https://fonts.example.com/a.css"><a href="https://x">'
    )
    assert list(complaints(tmp_path)) == ["a.html fetches https://fonts.example.com/a.css"]


def test_a_link_to_a_missing_page_or_anchor_is_a_complaint(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html"><a href="#x"><a href="#y"><p id="x">')
    assert list(complaints(tmp_path)) == [
        "a.html links to b.html, which is not there",
        "a.html links to #y, which is not there",
    ]


def test_search_on_files_takes_no_script_from_elsewhere() -> None:
    foreign = '<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script>'
    page = local(f"<head>{foreign}</head>")
    assert read(page).fetched == ()
    assert "window.Worker" in page
