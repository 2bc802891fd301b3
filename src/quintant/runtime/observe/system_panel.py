"""How an operator's objects are shown to people: a state, a sentence and some cells for each.

Module `panel` of an operator makes a `SystemPanel` of pure functions; the console calls them with
what its watches bring. Nothing here has an effect, and nothing knows how a row is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from quintant.api.meta import Condition, condition_of
from quintant.core.object import Object

ObjectState = Literal["well", "working", "broken", "unknown"]
"""How an object is: as wanted, on its way there, in need of a person, or nobody knows."""
STATES: tuple[ObjectState, ...] = ("well", "working", "broken", "unknown")
NO_STATUS = "nothing is known of it yet: no controller has written a status"


class PanelColumn(Struct, frozen=True):
    """A column of a panel's table."""

    title: str
    align: Literal["start", "end"] = "start"
    """Numbers stand at the end."""


class PanelRow(Struct, frozen=True):
    """One object, as a panel shows it."""

    state: ObjectState
    sentence: str
    """Why, in words."""
    cells: tuple[str, ...] = ()
    """One per column."""
    url: str = ""
    """Where people find what the object makes public; shown only if it is http or https."""
    figures: Mapping[str, float] = {}
    """What plots are made of, by the name of the plot."""


class PanelKind(Struct, frozen=True):
    """A kind of a panel, and how its objects become rows."""

    kind: type[Object]
    columns: tuple[PanelColumn, ...]
    row: Callable[[Any], PanelRow]


class PanelPlot(Struct, frozen=True):
    """A figure that is kept over the last minutes."""

    name: str
    title: str
    unit: str = ""
    merge: Literal["sum", "max"] = "sum"
    """What becomes of the figures of several objects."""
    series: str = ""
    """A counter among the operator's metrics whose rate it shows, instead of figures of rows."""


LinkState = Literal["", "pending", "attached", "adopted"]


class MapDevice(Struct, frozen=True):
    """A device on a map: where it is, and why."""

    node: str = ""
    phase: str = ""
    protocol: str = ""
    sku: str = ""
    link_state: LinkState = ""
    """How it is joined with its node; empty if it has none."""
    kind: str = ""
    """How the node was chosen, in one word."""
    reason: str = ""
    """Why this node, in words."""
    distance: int | None = None
    """Metres from the node."""
    previous_node: str = ""
    moves: int = 0
    cause: str = ""
    """Why it moved last."""
    instructions: tuple[str, ...] = ()
    curl: str = ""
    """A line for a shell that asks the device something."""
    latitude: float | None = None
    longitude: float | None = None


class MapNode(Struct, frozen=True):
    """What a system knows of a node of its map."""

    name: str
    state: ObjectState
    sentence: str
    latitude: float | None = None
    longitude: float | None = None


class PanelMap(Struct, frozen=True):
    """Devices on nodes: the kinds of both, and how they are read."""

    device_kind: type[Object]
    device: Callable[[Any], MapDevice]
    node_kind: type[Object]
    node: Callable[[Any], MapNode]


class SystemPanel(Struct, frozen=True):
    """An operator, as the console shows it."""

    name: str
    title: str
    kinds: tuple[PanelKind, ...]
    plots: tuple[PanelPlot, ...] = ()
    map: PanelMap | None = None
    install: str | None = None
    """The command that installs it; that of Quintant's own operators unless there is one."""


def columns(*titles: str) -> tuple[PanelColumn, ...]:
    """Columns by their titles; one that begins with # is of numbers."""
    return tuple(
        PanelColumn(title.removeprefix("#"), "end" if title.startswith("#") else "start")
        for title in titles
    )


def judge_conditions(conditions: Sequence[Condition]) -> tuple[ObjectState, str]:
    """State and sentence by kstatus: Stalled, Reconciling, Ready, in this order."""
    for type, state in (("Stalled", "broken"), ("Reconciling", "working")):
        condition = condition_of(conditions, type)
        if condition is not None and condition.status == "True":
            return ("broken" if state == "broken" else "working"), explain_condition(condition)
    for type in ("Ready", "Available", "Complete"):
        condition = condition_of(conditions, type)
        if condition is not None:
            return _judge_ready(condition)
    return "unknown", NO_STATUS if not conditions else "it has no condition Ready"


def _judge_ready(condition: Condition) -> tuple[ObjectState, str]:
    sentence = explain_condition(condition)
    match condition.status:
        case "True":
            return "well", sentence
        case "False":
            return "broken", sentence
    return "unknown", sentence


def explain_condition(condition: Condition) -> str:
    """A condition in words: its message, or its reason, or that it is what it is."""
    return condition.message or condition.reason or f"{condition.type} is {condition.status}"


def text_of(value: object) -> str:
    """A cell; nothing for what is not there."""
    return "" if value is None else str(value)
