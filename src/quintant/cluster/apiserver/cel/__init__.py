"""CEL, the language of x-kubernetes-validations: compile an expression, run it.

    text ─► parser ─► checker (types from the schema) ─► evaluator
                                                     └─► cost (what it takes at worst)

This module is all that the rest of the cluster uses. Types and values come from schemas
(quintant.cluster.apiserver.cel.schemas); complaints and errors are a real server's, word for word
where they are about types, names and missing values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintant.cluster.apiserver.cel.ast import names
from quintant.cluster.apiserver.cel.checker import IllTyped, check
from quintant.cluster.apiserver.cel.cost import estimate
from quintant.cluster.apiserver.cel.evaluator import compile_checked
from quintant.cluster.apiserver.cel.parser import BadSyntax, parse
from quintant.cluster.apiserver.cel.running import Evaluation, Step, TooExpensive
from quintant.cluster.apiserver.cel.types import CelType, resolve
from quintant.cluster.apiserver.cel.values import CelError
from quintant.cluster.apiserver.offload.pool import inline_budget

__all__ = [
    "CelError",
    "CompiledRule",
    "EvalOutcome",
    "EvalResult",
    "TooExpensive",
    "Uncompilable",
    "compile_rule",
]


# What functions raise for a value that does not fit the type its schema declares: it may have been
# stored under another one.
_MISFITS = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError)


RUN_COST = 50
"""Counted for a run at least, where others wait for it: to begin and to end takes time, too."""


class Uncompilable(ValueError):
    """An expression that cannot be right; the text says where and why."""


@dataclass(frozen=True, slots=True)
class EvalResult:
    """What a run gave, and what it cost."""

    value: Any
    cost: int


@dataclass(frozen=True, slots=True)
class EvalOutcome:
    """How a run ended, and what it cost, also if it failed."""

    value: Any
    cost: int
    error: CelError | None = None


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """An expression, ready to run."""

    type: str
    output: CelType
    """The same, with what it is made of."""
    uses: frozenset[str]
    """The names it mentions."""
    cost: int
    """What it takes at worst."""
    step: Step

    def run(self, variables: Mapping[str, Any], limit: int) -> EvalResult:
        """Evaluate with variables; CelError if that fails, TooExpensive beyond a limit."""
        outcome = self.attempt(variables, limit)
        if outcome.error is not None:
            raise outcome.error
        return EvalResult(outcome.value, outcome.cost)

    def attempt(self, variables: Mapping[str, Any], limit: int) -> EvalOutcome:
        """Evaluate with variables; what it cost is known also if it failed."""
        hasty = inline_budget()
        run = Evaluation(dict(variables), limit if hasty is None else min(limit, hasty.left))
        try:
            return EvalOutcome(self.step(run), run.cost)
        except CelError as error:
            return EvalOutcome(None, run.cost, error)
        except _MISFITS:
            return EvalOutcome(None, run.cost, CelError("no such overload"))
        finally:
            if hasty is not None:
                hasty.spend(max(run.cost, RUN_COST))


def compile_rule(
    expression: str, variables: Mapping[str, CelType], *, patch_types: bool = False
) -> CompiledRule:
    """Compile an expression over variables of some types; Uncompilable if that fails.

    With `patch_types` it may make an Object or a JSONPatch.
    """
    try:
        checked = check(parse(expression), variables, patch_types=patch_types)
    except (BadSyntax, IllTyped) as error:
        raise Uncompilable(f"compilation failed: {error}") from None
    try:
        step = compile_checked(checked)
    except CelError as error:
        raise Uncompilable(f"program instantiation failed: {error}") from None
    uses, output = frozenset(names(checked.source.root)), resolve(checked.type, {})
    return CompiledRule(str(output), output, uses, estimate(checked), step)
