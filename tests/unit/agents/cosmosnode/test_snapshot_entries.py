"""A hostile snapshot writes nothing outside of its folder, and leaves no link that leads there."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from quintant.agents.cosmosnode.archives import extract_all
from quintant.agents.cosmosnode.last_words import NodeToolError

TAKEN = ("data", "wasm")
FILE, FOLDER = tarfile.REGTYPE, tarfile.DIRTYPE
SYMBOLIC, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE


class Entry(NamedTuple):
    """An entry of an archive."""

    name: str
    type: bytes = FILE
    link: str = ""


def packed(*entries: Entry) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as file:
        for each in entries:
            info = tarfile.TarInfo(each.name)
            info.type, info.linkname, content = each.type, each.link, b"theirs"
            info.mode, info.size = 0o6777, len(content) if each.type == FILE else 0
            file.addfile(info, io.BytesIO(content))
    return made.getvalue()


def unpack(folder: Path, *entries: Entry) -> Path:
    """Unpack as an init container does; where it was unpacked to."""
    made = folder / "home/.fetch/made"
    made.mkdir(parents=True)
    (folder / "outside").write_text("ours")
    archive = folder / "archive.tar"
    archive.write_bytes(packed(*entries))
    extract_all(archive, ".tar", made, TAKEN)
    return made


def tree(folder: Path) -> set[str]:
    return {str(each.relative_to(folder)) for each in folder.rglob("*")}


HOSTILE: dict[str, tuple[Entry, ...]] = {
    "up": (Entry("data/../../outside"),),
    "up below one folder": (Entry("gaia/data/../../../outside"),),
    "absolute": (Entry("/data/x"),),
    "device": (Entry("data/null", tarfile.CHRTYPE),),
    "block device": (Entry("data/sda", tarfile.BLKTYPE),),
    "pipe": (Entry("data/pipe", tarfile.FIFOTYPE),),
    "absolute link": (Entry("data/l", SYMBOLIC, "/etc"),),
    "link, then a file through it": (
        Entry("data/l", SYMBOLIC, ".."), Entry("data/l/x"),
    ),
    "link inside, then a file through it": (
        Entry("data/d/", FOLDER), Entry("data/l", SYMBOLIC, "d"), Entry("data/l/x"),
    ),
    "link whose target comes later": (
        Entry("data/l", SYMBOLIC, "later/.."), Entry("data/later/", FOLDER),
    ),
    "link that is up by another link": (
        Entry("data/a", SYMBOLIC, "."), Entry("data/b", SYMBOLIC, "a/.."),
    ),
    "link that leads out after the move": (Entry("gaia/data/l", SYMBOLIC, "../../x"),),
    "link to the configuration": (Entry("data/l", SYMBOLIC, "../config"),),
    "link from the other folder": (Entry("wasm/l", SYMBOLIC, "../data"),),
    "folder that is a link": (Entry("data", SYMBOLIC, "../.."),),
    "folder that is a file": (Entry("data"),),
    "file replaced by a link, then written": (
        Entry("data/x"), Entry("data/x", SYMBOLIC, "y"), Entry("data/x"),
    ),
    "link replaced by a file": (Entry("data/x", SYMBOLIC, "y"), Entry("data/x")),
    "folder replaced by a link": (
        Entry("data/d/", FOLDER), Entry("data/d", SYMBOLIC, "."), Entry("data/d/x"),
    ),
    "hard link to an absolute path": (Entry("data/h", HARD, "/etc/passwd"),),
    "hard link up": (Entry("data/h", HARD, "data/../../../outside"),),
    "hard link to what comes later": (Entry("data/h", HARD, "data/x"), Entry("data/x")),
    "hard link to a link": (Entry("data/l", SYMBOLIC, "x"), Entry("data/h", HARD, "data/l")),
    "hard link through a link": (
        Entry("data/d/x"), Entry("data/l", SYMBOLIC, "d"), Entry("data/h", HARD, "data/l/x"),
    ),
    "hard link to what is not taken": (Entry("config/k"), Entry("data/h", HARD, "config/k")),
    "link without a target": (Entry("data/l", SYMBOLIC, ""),),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(NodeToolError, match=r"cannot use the archive\nbecause: the entry"):
        unpack(tmp_path, *HOSTILE[name])
    assert (tmp_path / "outside").read_text() == "ours"


def test_only_data_and_wasm_are_taken(tmp_path: Path) -> None:
    others = ("config/node_key.json", "cosmovisor/bin/gaiad", "x", ".ssh/id", "a/b/data/x")
    made = unpack(tmp_path, *map(Entry, others), Entry("data/a.db/x"), Entry("./wasm/y"))
    assert tree(made) == {"data", "data/a.db", "data/a.db/x", "wasm", "wasm/y"}


def test_entries_that_are_not_taken_do_not_harm(tmp_path: Path) -> None:
    link = Entry("cosmovisor/current", SYMBOLIC, "/root")
    made = unpack(tmp_path, link, Entry("cosmovisor/current/x"), Entry("data/x"))
    assert tree(made) == {"data", "data/x"}


def test_links_within_a_folder_stay(tmp_path: Path) -> None:
    made = unpack(
        tmp_path, Entry("gaia/data/d/x"), Entry("gaia/data/d/l", SYMBOLIC, "../y"),
        Entry("gaia/data/h", HARD, "gaia/data/d/x"), Entry("gaia/data/y"),
    )  # fmt: skip
    assert (made / "gaia/data/d/l").read_text() == "theirs"
    assert (made / "gaia/data/h").samefile(made / "gaia/data/d/x")


def test_the_last_file_of_a_name_counts_and_has_no_rights_of_others(tmp_path: Path) -> None:
    made = unpack(tmp_path, Entry("data/x"), Entry("data/x"))
    assert (made / "data/x").stat().st_mode & 0o7777 == 0o755


def test_a_name_that_no_disk_takes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NodeToolError, match="cannot use the archive"):
        unpack(tmp_path, Entry("data/" + "x" * 300))


NAMES = some.sampled_from(
    ["data", "data/a", "data/b", "data/a/b", "data/b/a", "data/a/b/a", "wasm/a", "g/data/a",
     "g/data/b/a", "config/a", "../outside", "data/../a"]
)  # fmt: skip
LINKS = some.sampled_from(
    ["a", "b", ".", "..", "../a", "../b", "a/..", "b/../..", "../../outside", "/outside", "a/b",
     "data/a", "data/b", "data/a/b", "g/data/a", "config/a", "../config"]
)  # fmt: skip
ENTRIES = some.lists(
    some.builds(Entry, NAMES, some.sampled_from([FILE, FOLDER, SYMBOLIC, HARD]), LINKS), max_size=8
)


@settings(max_examples=200, deadline=None)
@given(ENTRIES)
def test_no_archive_leads_out_of_its_folder(entries: list[Entry]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            made = unpack(folder, *entries)
        except NodeToolError:
            made = folder / "home/.fetch/made"
        assert (folder / "outside").read_text() == "ours"
        assert {each for each in tree(folder) if not each.startswith("home/.fetch/made")} == {
            "outside", "archive.tar", "home", "home/.fetch",
        }  # fmt: skip
        for data in (made / "data", made / "g/data"):
            if not data.is_dir():
                continue
            moved = folder / "home/data"
            os.replace(data, moved)
            for each in moved.rglob("*"):
                assert not each.is_symlink() or _leads(each).is_relative_to(moved.resolve())
            os.replace(moved, data)


def _leads(link: Path) -> Path:
    try:
        return link.resolve()
    except RuntimeError:  # a circle leads nowhere
        return link
