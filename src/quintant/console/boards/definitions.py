"""Which kinds are served: panels appear with their definitions, and go with them.

An operator's kinds have its panel; those of strangers a panel per group, made of the definitions
alone. Groups of Kubernetes itself have none.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from quintant.console.boards.crd_panel import DefinitionView, definition_columns
from quintant.console.boards.panels import ShownKind, SystemBoard, operator_board, typed_kind
from quintant.console.publisher import Publisher
from quintant.console.sources import AnyChange, Sources
from quintant.core.resource import Resource, resource_of
from quintant.core.resource_names import is_kubernetes_group
from quintant.runtime.observe.system_panel import SystemPanel

MOST_STRANGE_KINDS = 100
"""Kinds of strangers that are followed: each is a watch."""


class Definitions:
    """Boards by what is served."""

    def __init__(
        self,
        panels: Sequence[SystemPanel],
        publisher: Publisher,
        sources: Sources,
        documented: Container[str] = (),
    ) -> None:
        """`documented` are the systems that have a page of docs."""
        self._publisher, self._sources = publisher, sources
        self.boards: dict[str, SystemBoard] = {
            each.name: operator_board(each, publisher, sources, documented=each.name in documented)
            for each in panels
        }
        self._operators = {
            (kind.resource.group, kind.resource.plural): (self.boards[panel.name], kind)
            for panel in panels
            for kind in map(typed_kind, panel.kinds)
        }
        self._served: dict[str, tuple[SystemBoard, Resource]] = {}
        """By the name of the definition."""
        self._listeners: list[Callable[[SystemBoard], None]] = []
        self._kind_listeners: list[Callable[[Resource], None]] = []
        self._introduced: set[Resource] = set()
        sources.subscribe(resource_of(DefinitionView), self._heard)
        sources.follow_view(DefinitionView)

    def on_board(self, listener: Callable[[SystemBoard], None]) -> None:
        """Hear of every board, those to come included."""
        self._listeners.append(listener)
        for board in self.boards.values():
            listener(board)

    def on_kind(self, listener: Callable[[Resource], None]) -> None:
        """Hear once of every kind that is shown, before its objects are."""
        self._kind_listeners.append(listener)

    def kinds(self) -> dict[tuple[str, str], Resource]:
        """What is served and shown, by group and plural."""
        return {(each.group, each.plural): each for _, each in self._served.values()}

    def kind_of(self, resource: Resource) -> ShownKind | None:
        """How objects of a kind become rows; None if it is not shown."""
        for board in self.boards.values():
            if resource in board.kinds:
                return board.kinds[resource]
        return None

    def docs_of(self, resource: Resource) -> str:
        """The page of the docs about a kind; empty if there is none."""
        return next((each.docs for each in self.boards.values() if resource in each.kinds), "")

    def _heard(self, _resource: Resource, change: AnyChange) -> None:
        old, new = change.old, change.new
        if new is None and old is not None:
            self._withdraw(old.metadata.name)
        elif isinstance(new, DefinitionView):
            self._read(new)

    def _read(self, definition: DefinitionView) -> None:
        key = (definition.spec.group, definition.spec.names.plural)
        if key in self._operators:
            board, kind = self._operators[key]
            served = definition.resource(kind.resource.version) is not None
        elif is_kubernetes_group(definition.spec.group):
            return
        else:
            found = self._strange(definition)
            if found is None:
                self._withdraw(definition.metadata.name)
                return
            (board, kind), served = found, True
        if not served:
            self._withdraw(definition.metadata.name)
            return
        self._withdraw(definition.metadata.name, unless=kind.resource)
        self._served[definition.metadata.name] = board, kind.resource
        self._introduce(kind.resource)
        board.show(kind)

    def _introduce(self, resource: Resource) -> None:
        if resource not in self._introduced:
            self._introduced.add(resource)
            for listener in self._kind_listeners:
                listener(resource)

    def _strange(self, definition: DefinitionView) -> tuple[SystemBoard, ShownKind] | None:
        resource = definition.resource()
        strange = len(self._served.keys() - {definition.metadata.name})
        if resource is None or strange >= MOST_STRANGE_KINDS + len(self._operators):
            return None
        columns, row = definition_columns(definition, resource.version)
        return self._board_of(resource.group), ShownKind(resource, columns, row)

    def _board_of(self, group: str) -> SystemBoard:
        if group not in self.boards:
            board = SystemBoard(group, f"kinds of {group}", self._publisher, self._sources)
            self.boards[group] = board
            for listener in self._listeners:
                listener(board)
        return self.boards[group]

    def _withdraw(self, name: str, unless: Resource | None = None) -> None:
        board, resource = self._served.get(name, (None, None))
        if board is not None and resource is not None and resource != unless:
            del self._served[name]
            board.hide(resource)
