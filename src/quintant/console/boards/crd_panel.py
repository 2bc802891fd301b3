"""A panel for kinds that nobody made one for: what their definition says is enough.

Cells come from the printer columns, the state from kstatus' conditions, or else from a phase whose
word is well known. A kind's definition is read as it is: strangers wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.api.meta import Condition
from quintant.console.boards.json_path import values_at
from quintant.console.links import CELL_LENGTH, cut
from quintant.console.views import ConsoleObject
from quintant.core.codec import BROKEN
from quintant.core.object import Model, Object
from quintant.core.resource import Resource, projection
from quintant.runtime.observe.system_panel import (
    NO_STATUS,
    ObjectState,
    PanelColumn,
    PanelRow,
    judge_conditions,
)

MOST_COLUMNS = 8
MOST_CONDITIONS = 100
"""Conditions of one object that are looked at."""
NOT_SAID = "its status has neither conditions nor a phase: it does not say how it is"
NUMBERS = ("integer", "number")
PHASES: dict[str, ObjectState] = {
    **dict.fromkeys(("ready", "running", "active", "available", "bound", "complete", "healthy",
                     "online", "succeeded"), "well"),
    **dict.fromkeys(("pending", "progressing", "creating", "updating", "deleting", "scheduling",
                     "terminating", "initializing", "forming"), "working"),
    **dict.fromkeys(("failed", "error", "degraded", "crashloopbackoff", "lost", "stalled"),
                    "broken"),
}  # fmt: skip


class _Column(Model):
    name: str = ""
    type: str = ""
    json_path: str = ""
    priority: int = 0


class _Version(Model):
    name: str = ""
    served: bool = False
    storage: bool = False
    additional_printer_columns: tuple[_Column, ...] | None = None


class _Names(Model):
    plural: str = ""
    kind: str = ""


class _Spec(Model):
    group: str = ""
    names: _Names = _Names()
    scope: str = ""
    versions: tuple[_Version, ...] = ()


class _Status(Model):
    conditions: tuple[Condition, ...] | None = None


@projection(of=CustomResourceDefinition)
class DefinitionView(Object):
    """A CustomResourceDefinition without its schemas."""

    spec: _Spec = _Spec()
    status: _Status = _Status()

    @property
    def established(self) -> bool:
        """Whether the server serves the kind."""
        conditions = self.status.conditions or ()
        return any(each.type == "Established" and each.status == "True" for each in conditions)

    def resource(self, version: str = "") -> Resource | None:
        """The kind, in a version or in the one that is stored; None if it is not served."""
        served = [each for each in self.spec.versions if each.served]
        wanted = [each for each in served if each.name == version]
        stored = [each for each in served if each.storage] or served
        chosen = wanted or ([] if version else stored)
        if not chosen or not self.established:
            return None
        names, namespaced = self.spec.names, self.spec.scope == "Namespaced"
        return Resource(
            self.spec.group, chosen[0].name, names.kind, names.plural, namespaced=namespaced
        )

    def printer_columns(self, version: str) -> tuple[_Column, ...]:
        """What `kubectl get` prints of a version, without the age, which every page shows."""
        for each in self.spec.versions:
            if each.name == version:
                found = each.additional_printer_columns or ()
                return tuple(
                    column
                    for column in found
                    if not column.priority and column.json_path != ".metadata.creationTimestamp"
                )[:MOST_COLUMNS]
        return ()


def definition_columns(
    definition: DefinitionView, version: str
) -> tuple[tuple[PanelColumn, ...], Callable[[ConsoleObject], PanelRow]]:
    """The columns of a kind, and what makes rows of its objects."""
    found = definition.printer_columns(version)
    columns = tuple(
        PanelColumn(cut(each.name, CELL_LENGTH), "end" if each.type in NUMBERS else "start")
        for each in found
    )
    return columns, partial(row_of_definition, tuple(each.json_path for each in found))


def row_of_definition(paths: tuple[str, ...], obj: ConsoleObject) -> PanelRow:
    """A row of an object, by the paths of its columns."""
    plain = obj.plain()
    state, sentence = judge_plain(plain)
    return PanelRow(state, sentence, tuple(_cell(values_at(path, plain)) for path in paths))


def judge_plain(plain: dict[str, Any]) -> tuple[ObjectState, str]:
    """State and sentence of any object: by its conditions, or else by its phase."""
    status = plain.get("status")
    if not isinstance(status, dict) or not status:
        return "unknown", NO_STATUS
    conditions = read_conditions(status.get("conditions"))
    state, sentence = judge_conditions(conditions)
    phase = status.get("phase", status.get("state"))
    if state == "unknown" and isinstance(phase, str) and phase:
        return PHASES.get(phase.lower(), "unknown"), f"it is {cut(phase, CELL_LENGTH)}"
    return state, NOT_SAID if not conditions else sentence


def read_conditions(value: Any) -> tuple[Condition, ...]:
    """The conditions among what a stranger calls so."""
    found = []
    for each in value[:MOST_CONDITIONS] if isinstance(value, list) else ():
        try:
            found.append(msgspec.convert(each, Condition, strict=False))
        except BROKEN:
            continue
    return tuple(found)


def _cell(values: list[Any]) -> str:
    return cut(", ".join(_text(each) for each in values), CELL_LENGTH)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    return "" if value is None else str(value)
