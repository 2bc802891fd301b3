"""What a container sees of an image: its layers, and what the later ones removed."""

from __future__ import annotations

from image.archive import Entry, Image, Layer

FILE = Entry(0o644, 0, 0, "file")
FOLDER = Entry(0o755, 0, 0, "folder")


def root(*layers: dict[str, Entry]) -> list[str]:
    made = tuple(Layer(f"sha256:{n}", 0, entries) for n, entries in enumerate(layers))
    return sorted(Image({}, made).root())


def test_what_a_layer_removes_is_gone_with_all_below_it() -> None:
    below = {"/a": FOLDER, "/a/b": FILE, "/ab": FILE}
    assert root(below, {"/.wh.a": FILE}) == ["/ab"]


def test_an_opaque_folder_has_nothing_of_the_layers_below() -> None:
    below = {"/a": FOLDER, "/a/b": FILE, "/c": FILE}
    above = {"/a": FOLDER, "/a/new": FILE, "/a/.wh..wh..opq": FILE}
    assert root(below, above) == ["/a", "/a/new", "/c"]


def test_a_whiteout_leaves_what_its_own_layer_has() -> None:
    assert root({"/a": FILE}, {"/a": FILE, "/.wh.a": FILE}) == ["/a"]
