"""The walk of references: over a checkout made for it, with one thing changed at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.references import dangling

PAGE = """# A page

A reflector (`runtime/watch/reflector.py`) in `src/quintant/runtime/`, beside `page.md`, is
`quintant.runtime.watch.reflector.Reflector`; `Reflector.follow`, `Reflector.closed` and
`Reflector.state` are its members; `test_reflector` and `test_list_is_followed` hold it.
`apps/v1`, `example.com/name`, `Reflector.*` and `Unknown.member` are not ours.

```sh
cat `gone.py`
```
"""
REFLECTOR = '''"""Follows a kind: quintant.runtime.watch.reflector, runtime/watch/reflector.py."""

class Base:
    closed: bool = False

class Reflector(Base):
    """What `Reflector.follow` does."""

    def follow(self) -> None:
        self.state = 1
'''
TEST = "def test_list_is_followed() -> None: ..."
MODULE = "src/quintant/runtime/watch/reflector.py"
FILES = {
    "page.md": PAGE,
    "CHANGELOG.md": "`gone.py` was removed.",
    "src/quintant/__init__.py": 'PUBLIC = {"Manager": "runtime"}',
    "src/quintant/runtime/__init__.py": "",
    "src/quintant/runtime/watch/__init__.py": "",
    MODULE: REFLECTOR,
    "tests/unit/test_reflector.py": TEST,
}


def checkout(root: Path, changes: dict[str, str | None]) -> Path:
    """A small project whose documents are true, but for some changes; None removes."""
    for name, text in (FILES | changes).items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    "text",
    [
        "`quintant.Manager`, `quintant`, `quintant.dev/revision`",
        "`reflector.py`, `watch/reflector.py`, `unit/test_reflector.py`, `runtime/watch/`",
        "`/etc/hosts`, `tests/<name>.py`, `make test K=word`, `metadata.labels`, `v1/pods`",
    ],
)
def test_what_is_there_or_not_ours_is_not_named(tmp_path: Path, text: str) -> None:
    assert list(dangling(checkout(tmp_path, {"other.md": text}))) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("`runtime/cache/states.py`", "no such file or folder"),
        ("`src/quintant/cache/`", "no such file or folder"),
        ("`quintant.runtime.cache`", "no such module or name"),
        ("`quintant.runtime.watch.reflector.Reflex`", "no such module or name"),
        ("`quintant.runtime.watch.reflector.Reflector.run`", "no such module or name"),
        ("`Reflector.run`", "Reflector has no run"),
        ("`test_list_is_forgotten`", "no such test"),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, text: str, reason: str) -> None:
    root = checkout(tmp_path, {"other.md": f"# Title\n\nSee {text}.\n"})
    assert list(dangling(root)) == [f"other.md:3: {text}: {reason}"]


def test_module_that_is_renamed_is_named_wherever_its_old_name_stands(tmp_path: Path) -> None:
    renamed = "src/quintant/runtime/watch/reflex.py"
    root = checkout(tmp_path, {MODULE: None, renamed: REFLECTOR})
    assert [line.partition(": ")[0] for line in dangling(root)] == [
        "page.md:3",
        "page.md:4",
        f"{renamed}:1",
        f"{renamed}:1",
    ]


def test_exception_is_not_named(tmp_path: Path) -> None:
    root = checkout(tmp_path, {"other.md": "`pki/` and `gone.py`"})
    assert list(dangling(root, ["^pki/$"])) == ["other.md:1: `gone.py`: no such file or folder"]
