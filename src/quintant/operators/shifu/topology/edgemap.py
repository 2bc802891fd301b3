"""edgeMap: who is where, as an adjacency list of nodes and devices.

Invariants: it is symmetric (I1); an edge joins one node and one device (I2); a device has at most
one neighbour (I3); what is known to the API has a vertex, with neighbours or without (I4), and
nothing else has (I5); its text follows from the map alone (I6): nodes first, then devices, each by
age and name, so that every replica prints the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from quintant.core.object import Request
from quintant.operators.shifu.observed.links import EdgeLink


class EdgeChange(NamedTuple):
    """One change of the map; every change has the next version."""

    version: int
    vertex: Request
    """A device, or a node if it has no namespace."""
    link: EdgeLink | None = None
    """What binds a device now."""
    gone: bool = False


Listener = Callable[[EdgeChange], None]


class EdgeMap:
    """The adjacency list."""

    def __init__(self) -> None:
        self.version: int = 0
        """Counts the changes."""
        self._nodes: dict[str, dict[Request, None]] = {}
        self._devices: dict[Request, EdgeLink | None] = {}
        self._created: dict[Request, str] = {}
        self._listeners: list[Listener] = []

    def add_node(self, name: str, created: str) -> None:
        """Add a node, if it is not there."""
        if name not in self._nodes:
            self._nodes[name] = {}
            self._created[Request(name)] = created
            self._tell(Request(name))

    def remove_node(self, name: str) -> list[Request]:
        """Remove a node with its edges; the devices that lost theirs."""
        if name not in self._nodes:
            return []
        left = list(self._nodes[name])
        for device in left:
            self.unbind(device)
        del self._nodes[name], self._created[Request(name)]
        self._tell(Request(name), gone=True)
        return left

    def add_device(self, device: Request, created: str) -> None:
        """Add a device, if it is not there."""
        if device not in self._devices:
            self._devices[device] = None
            self._created[device] = created
            self._tell(device)

    def remove_device(self, device: Request) -> None:
        """Remove a device with its edge."""
        if device in self._devices:
            self._detach(device)
            del self._devices[device], self._created[device]
            self._tell(device, gone=True)

    def bind(self, device: Request, link: EdgeLink) -> bool:
        """Join a device with a node, and with no other; False if either is not there."""
        if device not in self._devices or link.node not in self._nodes:
            return False
        if self._devices[device] != link:
            self._detach(device)
            self._devices[device] = link
            self._nodes[link.node][device] = None
            self._tell(device, link)
        return True

    def unbind(self, device: Request) -> None:
        """Let a device have no node."""
        if self._devices.get(device) is not None:
            self._detach(device)
            self._devices[device] = None
            self._tell(device)

    def link(self, device: Request) -> EdgeLink | None:
        """What joins a device with its node."""
        return self._devices.get(device)

    def has_node(self, name: str) -> bool:
        """Whether there is a node of that name."""
        return name in self._nodes

    def nodes(self) -> list[str]:
        """The nodes in the order of the text."""
        return sorted(self._nodes, key=lambda name: self._age(Request(name)))

    def devices(self) -> list[Request]:
        """The devices in the order of the text."""
        return sorted(self._devices, key=self._age)

    def devices_of(self, node: str) -> list[Request]:
        """The neighbours of a node, in the order of the text."""
        return sorted(self._nodes.get(node, ()), key=self._age)

    def unbound(self) -> list[Request]:
        """The devices without a node, the oldest first."""
        return sorted((key for key, link in self._devices.items() if link is None), key=self._age)

    def device_count(self) -> int:
        """How many devices there are."""
        return len(self._devices)

    def vertices(self) -> int:
        """How many there are."""
        return len(self._nodes) + len(self._devices)

    def edges(self) -> int:
        """How many there are."""
        return sum(link is not None for link in self._devices.values())

    def neighbours(self, vertex: Request) -> list[Request]:
        """What a vertex is joined with: devices of a node, the node of a device."""
        if not vertex.namespace:
            return self.devices_of(vertex.name)
        link = self._devices.get(vertex)
        return [] if link is None else [Request(link.node)]

    def text(self) -> str:
        """The map as the design writes it: a line for every vertex, then its neighbours."""
        names = self._names()
        heads = [*(Request(name) for name in self.nodes()), *self.devices()]
        lines = (
            " --> ".join(f"[{names[each]}]" for each in (head, *self.neighbours(head)))
            for head in heads
        )
        return "".join(f"{line}\n" for line in lines)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear of every change from now on; call what is returned to hear no more."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def __iter__(self) -> Iterator[tuple[Request, EdgeLink | None]]:
        """Every device, with its edge."""
        return iter([(key, self._devices[key]) for key in self.devices()])

    def _names(self) -> dict[Request, str]:
        """What each is called: by its name, and with its namespace where that would not do."""
        vertices = [*map(Request, self._nodes), *self._devices]
        count = Counter(each.name for each in vertices)
        return {each: each.name if count[each.name] == 1 else str(each) for each in vertices}

    def _age(self, vertex: Request) -> tuple[str, str, str]:
        return self._created[vertex], vertex.name, vertex.namespace

    def _detach(self, device: Request) -> None:
        link = self._devices[device]
        if link is not None:
            del self._nodes[link.node][device]

    def _tell(self, vertex: Request, link: EdgeLink | None = None, *, gone: bool = False) -> None:
        self.version += 1
        change = EdgeChange(self.version, vertex, link, gone)
        for listener in tuple(self._listeners):
            listener(change)
