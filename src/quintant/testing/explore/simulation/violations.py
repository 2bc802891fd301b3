"""What did not hold at some moment of a run, noted when it happened and told at the end.

A write of the server goes on whatever is wrong with it: nothing here raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.testing.explore.injection.trace import Trace

W = TypeVar("W")

SECRETS = "secrets"
"""The one table that may hold what nobody else may read."""


class Violations:
    """Notes what does not hold, each once, in the order in which it happened."""

    def __init__(self, trace: Trace, secrets: Sequence[str]) -> None:
        self.messages: list[str] = []
        self._trace, self._secrets = trace, [each.encode() for each in secrets]

    def note(self, violation: str) -> None:
        """Something does not hold."""
        if violation not in self.messages:
            self.messages.append(violation)
            self._trace.tell(f"! {violation}")

    def check(self, invariant: Callable[[W], None], world: W) -> None:
        """Note it if something that must hold does not."""
        try:
            invariant(world)
        except Exception as error:
            # The server's write goes on; what an invariant raises is told at the end of the run.
            # Its first line only: pytest adds what was compared, and that may be a Secret.
            message = str(error).partition("\n")[0] or "an assertion failed"
            named = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            self.note(f"{invariant.__name__} is broken: {named}{message}")

    def search_secrets(self, table: Table, change: Change) -> None:
        """Note it if a secret has left the table of Secrets."""
        if change.cur is None or table.name == SECRETS:
            return
        for number, secret in enumerate(self._secrets, 1):
            if secret in change.cur.raw:
                # Its number, not its text: this is shown to people.
                self.note(f"secret {number} is in {table.name} {change.key}")
