"""The overview: each system in one line, its operator, and small plots of the last minutes."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from quintant.console.boards.definitions import Definitions
from quintant.console.boards.panels import SystemBoard
from quintant.console.boards.pods import PODS, CountedPod
from quintant.console.publisher import Publisher
from quintant.console.sources import AnyChange, Sources
from quintant.console.topics import PUBLIC, AccessScope, Topic, TopicRow
from quintant.core.clock import timestamp
from quintant.core.resource import Resource
from quintant.runtime.observe.system_panel import STATES, PanelPlot
from quintant.version import QUINTANT

RING = 90
"""Points of a plot."""
BEATS_PER_POINT = 5
"""Heartbeats between two points: with two seconds each, a plot is fifteen minutes."""
NO_FIGURES = "no figures: none were read yet"


class OperatorFigures(Struct, frozen=True):
    """What an operator says of itself, or why nothing is known."""

    leader: str = ""
    reconcile_rate: float | None = None
    error_rate: float | None = None
    why: str = NO_FIGURES
    rates: Mapping[str, float] = {}
    """Of the counters that its plots show."""


class OverviewBoard:
    """The topic of the overview."""

    def __init__(
        self,
        publisher: Publisher,
        sources: Sources,
        definitions: Definitions,
        programs: Mapping[str, str],
    ) -> None:
        """`programs` are the names of operators' pods, by system."""
        self.topic: Topic = publisher.add(Topic("overview"))
        self.figures: dict[str, OperatorFigures] = {}
        """By system."""
        self._publisher, self._definitions, self._programs = publisher, definitions, programs
        self._pods: dict[str, dict[str, CountedPod]] = {name: {} for name in programs.values()}
        self._rings: dict[str, deque[tuple[int, float]]] = {}
        self._beats = 0
        self._meta: dict[str, Any] = {
            "cluster": "", "server_version": "", "console_version": QUINTANT,
            "started": timestamp(publisher.clock.now()),
        }  # fmt: skip
        definitions.on_board(self._follow)
        sources.subscribe(PODS, self._heard_pod)
        publisher.every_beat(self._sample)
        publisher.mark(self)

    def describe(self, cluster: str, server_version: str) -> None:
        """Say which cluster it is."""
        self._meta |= {"cluster": cluster, "server_version": server_version}
        self._publisher.mark(self)

    def report(self, system: str, figures: OperatorFigures) -> None:
        """Show what an operator says of itself."""
        self.figures[system] = figures
        self._publisher.mark(self)

    def pods_of(self, system: str) -> Sequence[CountedPod]:
        """The pods of an operator."""
        return list(self._pods.get(self._programs.get(system, ""), {}).values())

    def flush(self) -> None:
        rows: dict[str, TopicRow] = {}
        for board in self._definitions.boards.values():
            if board.installed or board.name in self._programs:
                rows[f"system/{board.name}"] = _system_row(board)
            rows |= self._plot_rows(board)
        for system in self._programs:
            if pods := self.pods_of(system):
                rows[f"operator/{system}"] = self._operator_row(system, pods)
        self.topic.replace(rows, self._meta)

    def _follow(self, board: SystemBoard) -> None:
        board.on_flush(lambda: self._publisher.mark(self))

    def _heard_pod(self, _resource: Resource, change: AnyChange) -> None:
        for pod in (change.old, change.new):
            if pod is not None and pod.program in self._pods:
                self._pods[pod.program].pop(pod.metadata.uid, None)
                self._publisher.mark(self)
        pod = change.new
        if pod is not None and pod.program in self._pods and not pod.over:
            self._pods[pod.program][pod.metadata.uid] = pod

    def _operator_row(self, system: str, pods: Sequence[CountedPod]) -> TopicRow:
        figures = self.figures.get(system, OperatorFigures())
        fields = {
            "type": "operator", "name": self._programs[system],
            "namespace": pods[0].metadata.namespace, "version": _tag(pods[0].image),
            "leader": figures.leader, "ready": sum(each.ready for each in pods),
            "replicas": len(pods), "restarts": sum(each.restarts for each in pods),
            "reconcile_rate": figures.reconcile_rate, "error_rate": figures.error_rate,
            "figures": figures.why,
        }  # fmt: skip
        return TopicRow(fields, AccessScope("", "pods", pods[0].metadata.namespace))

    def _sample(self) -> None:
        """Add a point to every plot, now and then."""
        self._beats += 1
        if (self._beats - 1) % BEATS_PER_POINT:
            return
        now = int(self._publisher.clock.now().timestamp())
        for board in self._definitions.boards.values():
            for plot in board.plots:
                value = self._figure(board, plot)
                if value is not None:
                    ring = self._rings.setdefault(plot.name, deque(maxlen=RING))
                    ring.append((now, value))
        self._sample_rates(now)
        self._publisher.mark(self)

    def _figure(self, board: SystemBoard, plot: PanelPlot) -> float | None:
        """The present value of a plot; None if it is not known."""
        if not plot.series:
            return board.figure(plot)
        found = self.figures.get(board.name)
        return None if found is None else found.rates.get(plot.series)

    def _sample_rates(self, now: int) -> None:
        rates = [each.reconcile_rate for each in self.figures.values()]
        known = [each for each in rates if each is not None]
        if known:
            ring = self._rings.setdefault("reconciles", deque(maxlen=RING))
            ring.append((now, round(sum(known), 2)))

    def _plot_rows(self, board: SystemBoard) -> dict[str, TopicRow]:
        scope = _scope_of(board)
        found = {
            f"plot/{plot.name}": _plot_row(plot.title, plot.unit, self._rings[plot.name], scope)
            for plot in board.plots
            if plot.name in self._rings
        }
        if "reconciles" in self._rings:
            ring = self._rings["reconciles"]
            found["plot/reconciles"] = _plot_row("Reconciles", "per second", ring, scope)
        return found


def _system_row(board: SystemBoard) -> TopicRow:
    counts = {state: board.counts[state] for state in STATES}
    fields = {
        "type": "system", "name": board.name, "title": board.title, "installed": board.installed,
        "install": board.install, "counts": counts, "sentence": _sentence(board),
        "broken": [
            {"title": each.title, "sentence": each.sentence, "link": each.link}
            for each in board.broken()
        ],
    }  # fmt: skip
    return TopicRow(fields, _scope_of(board))


def _scope_of(board: SystemBoard) -> AccessScope:
    """What somebody has to be allowed to list who sees the counts of a system: all its kinds."""
    kinds = sorted((resource.group, resource.plural) for resource in board.kinds)
    return AccessScope(*kinds[0], also=tuple(kinds[1:])) if kinds else PUBLIC


def _sentence(board: SystemBoard) -> str:
    counts, total = board.counts, len(board.objects)
    if not board.installed:
        return "it is not installed"
    if not total:
        return "there are no objects of it yet"
    if counts["broken"]:
        return f"{counts['broken']} of {total} {_verb(counts['broken'], 'needs', 'need')} a person"
    if counts["working"]:
        return f"{counts['working']} of {total} {_verb(counts['working'], 'is', 'are')} on the way"
    if counts["unknown"]:
        return f"nothing is known of {counts['unknown']} of {total}"
    return "everything is as it should be"


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _plot_row(
    title: str, unit: str, ring: deque[tuple[int, float]], scope: AccessScope
) -> TopicRow:
    return TopicRow({"type": "plot", "title": title, "unit": unit, "points": list(ring)}, scope)


def _tag(image: str) -> str:
    """The version of an image: its tag."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.rpartition(":")[2] if ":" in name else ""
