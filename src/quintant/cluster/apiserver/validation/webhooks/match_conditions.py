"""validateMatchConditions: match conditions of webhooks and policies, and their programs.

The language is loaded with the first condition: nothing of `cel` is imported before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from quintant.cluster.apiserver.meta.field_errors import (
    duplicate,
    invalid,
    invalid_each,
    required,
    too_many,
)
from quintant.cluster.apiserver.meta.names import qualified_name_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.webhooks.environment import admission_types
from quintant.core.errors import Cause

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel import CompiledRule

MOST_CONDITIONS = 64
REMEMBERED = 1024
"""Programs that are kept: more than the webhooks of a cluster have."""

Compile = Callable[[str], "CompiledRule"]


@lru_cache(REMEMBERED)
def compile_match_condition(expression: str) -> CompiledRule:
    """The program of an expression; cel.Uncompilable if it makes no sense."""
    from quintant.cluster.apiserver.cel import compile_rule

    return compile_rule(expression, admission_types())


def condition_causes(
    conditions: Sequence[JsonObject], path: str, compiled: Compile
) -> Iterator[Cause]:
    """What is wrong with match conditions."""
    if len(conditions) > MOST_CONDITIONS:
        yield too_many(path, len(conditions), MOST_CONDITIONS)
        return
    names: set[str] = set()
    for at, condition in enumerate(conditions):
        item_path, name = f"{path}[{at}]", condition.get("name") or ""
        expression = (condition.get("expression") or "").strip()
        yield from _expression_causes(expression, f"{item_path}.expression", compiled)
        if not name:
            yield required(f"{item_path}.name")
            continue
        yield from invalid_each(f"{item_path}.name", name, qualified_name_errors(name))
        if name in names:
            yield duplicate(f"{item_path}.name", name)
        names.add(name)


def _expression_causes(expression: str, path: str, compiled: Compile) -> Iterator[Cause]:
    from quintant.cluster.apiserver.cel import Uncompilable

    if not expression:
        yield required(path)
        return
    try:
        found = compiled(expression).type
    except Uncompilable as error:
        yield invalid(path, expression, str(error))
        return
    if found != "bool":
        yield invalid(path, expression, f"must evaluate to bool but got {found}")
