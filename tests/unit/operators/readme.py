"""The contract of an operator, read beside the code that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from quintant.core.resource import resource_of
from quintant.metrics.exposition import Collector
from quintant.runtime.manager.manager import Manager

ROOT = Path(__file__).parents[3]
OptionsT = TypeVar("OptionsT")


class Contract:
    """The README of an operator, its page in the documentation, and its sources."""

    def __init__(self, operator: ModuleType) -> None:
        folder = Path(operator.__path__[0])
        self.text = (folder / "README.md").read_text()
        self.page = (ROOT / f"docs/{folder.name}.md").read_text()
        self.sources = "".join(path.read_text() for path in sorted(folder.rglob("*.py")))

    def table(self, title: str) -> list[str]:
        """The lines of the table below a heading."""
        part = self.text.split(f"## {title}\n")[1].split("\n## ")[0]
        return [line for line in part.splitlines() if line.startswith("|")]

    def rows(self, title: str) -> list[list[str]]:
        """The cells of the table below a heading, without its head."""
        lines = self.table(title)[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    def events(self) -> dict[str, str]:
        """The listed events: the type of each reason."""
        return {reason: type for type, reason, _ in self.rows("Events")}

    def conditions(self) -> set[str]:
        """What the table of actions says that conditions tell."""
        cells = [row[3] for row in self.rows("Actions")]
        return {word for cell in cells for word in re.findall(r"[A-Z]+[a-z]+[A-Z]\w+", cell)}

    def series(self) -> dict[str, str]:
        """The listed series: the type of each name."""
        return {row[0].strip("`"): row[1] for row in self.rows("Metrics")}

    def triggers(self) -> set[str]:
        """The first word of what wakes a reconcile: a kind, if it is one."""
        return {re.split("[ :,]", row[0])[0] for row in self.rows("Triggers")}

    def written_names(self) -> set[str]:
        """The names that stand in the sources as texts."""
        return set(re.findall(r'"([A-Z]\w+)"', self.sources))


def served(collectors: Iterable[Collector]) -> dict[str, str]:
    """The series that the code serves: the type of each name."""
    families = [family for collector in collectors for family in collector.collect()]
    return {
        f"{each.name}_total" if each.type == "counter" else each.name: each.type
        for each in families
    }


def watched(controllers: Callable[[Manager, OptionsT], None], options: OptionsT) -> set[str]:
    """The kinds that an operator controls, watches or reviews."""
    manager = Manager("contract")
    controllers(manager, options)
    return {resource_of(kind).kind for kind in manager.kinds()}
