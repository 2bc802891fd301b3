"""edgeMap: the example of the design byte for byte, and its invariants through any operations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from quintant.core.object import Request
from quintant.operators.shifu.observed.links import EdgeLink
from quintant.operators.shifu.topology.edgemap import EdgeChange, EdgeMap

EXAMPLE = b"""\
[edgeNode1] --> [camera1] --> [camera2]
[camera1] --> [edgeNode1]
[camera2] --> [edgeNode1]
"""


def key(name: str, namespace: str = "devices") -> Request:
    return Request(name, namespace)


def link(node: str) -> EdgeLink:
    return EdgeLink(node, "Ethernet", "hosted", "", False)


def test_the_example_of_the_design_byte_for_byte() -> None:
    edgemap = EdgeMap()
    edgemap.add_node("edgeNode1", "2026-01-01T00:00:00Z")
    for name in ("camera1", "camera2"):
        edgemap.add_device(key(name), "2026-01-01T00:00:01Z")
        edgemap.bind(key(name), link("edgeNode1"))
    assert edgemap.text().encode() == EXAMPLE


def test_a_name_that_two_have_is_told_with_its_namespace() -> None:
    edgemap = EdgeMap()
    edgemap.add_node("n1", "1")
    edgemap.add_device(key("camera", "a"), "2")
    edgemap.add_device(key("camera", "b"), "3")
    edgemap.bind(key("camera", "a"), link("n1"))
    assert edgemap.text() == "[n1] --> [a/camera]\n[a/camera] --> [n1]\n[b/camera]\n"


def test_who_joins_what_is_not_there_is_refused() -> None:
    edgemap = EdgeMap()
    edgemap.add_device(key("camera"), "1")
    assert not edgemap.bind(key("camera"), link("n1"))
    assert not edgemap.bind(key("nobody"), link("n1"))
    assert edgemap.text() == "[camera]\n"


@given(st.permutations(["c", "a", "b"]), st.permutations(["n2", "n1"]))
def test_the_text_depends_on_age_and_name_and_not_on_what_came_first(
    names: list[str], nodes: list[str]
) -> None:
    edgemap = EdgeMap()
    for name in names:
        edgemap.add_device(key(name), "1")
    for node in nodes:
        edgemap.add_node(node, "0")
    for name in names:
        edgemap.bind(key(name), link("n1"))
    assert edgemap.text().splitlines()[:2] == ["[n1] --> [a] --> [b] --> [c]", "[n2]"]


class EdgeMapMachine(RuleBasedStateMachine):
    """Any operations, in any order, beside a plain model (D5)."""

    def __init__(self) -> None:
        super().__init__()
        self.edgemap, self.changes = EdgeMap(), list[EdgeChange]()
        self.edgemap.subscribe(self.changes.append)
        self.nodes: set[str] = set()
        self.devices: dict[str, str] = {}

    names = st.sampled_from("abcd")
    places = st.sampled_from(["n1", "n2", "n3"])

    @rule(name=places)
    def add_node(self, name: str) -> None:
        self.edgemap.add_node(name, "0")
        self.nodes.add(name)

    @rule(name=places)
    def remove_node(self, name: str) -> None:
        left = self.edgemap.remove_node(name)
        gone = {each for each, node in self.devices.items() if node == name}
        assert {each.name for each in left} == gone
        self.nodes.discard(name)
        self.devices.update(dict.fromkeys(gone, ""))

    @rule(name=names)
    def add_device(self, name: str) -> None:
        self.edgemap.add_device(key(name), "0")
        self.devices.setdefault(name, "")

    @rule(name=names)
    def remove_device(self, name: str) -> None:
        self.edgemap.remove_device(key(name))
        self.devices.pop(name, None)

    @rule(name=names, node=places)
    def bind(self, name: str, node: str) -> None:
        fits = name in self.devices and node in self.nodes
        assert self.edgemap.bind(key(name), link(node)) is fits
        if fits:
            self.devices[name] = node

    @rule(name=names)
    def unbind(self, name: str) -> None:
        self.edgemap.unbind(key(name))
        if name in self.devices:
            self.devices[name] = ""

    @invariant()
    def it_is_what_the_model_is(self) -> None:
        edgemap = self.edgemap
        assert set(edgemap.nodes()) == self.nodes  # I4, I5
        assert {each.name for each in edgemap.devices()} == set(self.devices)
        for name, node in self.devices.items():
            near = edgemap.neighbours(key(name))
            assert near == ([Request(node)] if node else [])  # I2, I3
            for other in self.nodes:
                assert (key(name) in edgemap.neighbours(Request(other))) is (other == node)  # I1
        assert edgemap.edges() == sum(bool(node) for node in self.devices.values())
        assert edgemap.vertices() == len(self.nodes) + len(self.devices)

    @invariant()
    def every_change_has_the_next_version(self) -> None:
        versions = [change.version for change in self.changes]
        assert versions == list(range(1, len(versions) + 1))
        assert self.edgemap.version == len(versions)


TestD5EdgeMapInvariants = EdgeMapMachine.TestCase
