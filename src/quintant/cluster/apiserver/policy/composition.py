"""lazy.MapValue: the variables of a policy, each evaluated when it is first used.

What evaluating them costs is counted apart, and told to who spends from the same budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quintant.cluster.apiserver.cel.values import CelError
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.validation.policies.expressions import VARIABLES
from quintant.cluster.apiserver.webhooks.activation import CALL_LIMIT, Expression


class LazyVariables(dict[str, Any]):
    """The value of `variables`."""

    def __init__(self, expressions: Mapping[str, Expression], names: Mapping[str, Any]) -> None:
        super().__init__()
        self._expressions = expressions
        self.names: Final = {**names, VARIABLES: self}
        """What expressions see: all that variables see, and the variables."""
        self._known: dict[str, Any] = {}
        self._cost = 0

    def __contains__(self, name: object) -> bool:
        return name in self._expressions

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._evaluated(name, self._expressions[name])
        value = self._known[name]
        if isinstance(value, CelError):
            raise value
        return value

    def take_cost(self) -> int:
        """What was spent since somebody asked last."""
        cost, self._cost = self._cost, 0
        return cost

    def _evaluated(self, name: str, expression: Expression) -> Any:
        if expression.program is None:
            text = f"composited variable {quoted(name)} fails to compile: {expression.error}"
            return CelError(text)
        outcome = expression.program.attempt(self.names, CALL_LIMIT)
        self._cost += outcome.cost
        if outcome.error is not None:
            return CelError(
                f"composited variable {quoted(name)} fails to evaluate: {outcome.error}"
            )
        return outcome.value
