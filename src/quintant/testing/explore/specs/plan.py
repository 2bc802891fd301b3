"""Which cases are tried: every property first, then boundaries and refusals, then several at once.

What the server takes is asked of it, in a dry run on a world that is thrown away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from quintant.core.clock import Random
from quintant.testing.explore.specs.schema import (
    Property,
    Rule,
    Schema,
    Spec,
    is_part_of,
    properties,
    rules,
    value_at,
    with_value,
)
from quintant.testing.explore.specs.transitions import (
    SpecCase,
    TriedProperty,
    further_cases,
    main_case,
)
from quintant.testing.explore.specs.values import values_of

Refusal = Callable[[Spec], Awaitable[str]]
"""Why the server refuses a spec; empty if it takes it."""
MOST_VALUES = 30
"""Values of one property that the server is asked about."""
MOST_TOGETHER = 4
"""Properties that one case changes."""
RULE_VALUES = 5
"""Of each property that a rule names, the values that are tried together with others'."""


@dataclass(frozen=True, slots=True)
class SpecPlan:
    """What is tried of a spec."""

    good: Spec
    cases: tuple[SpecCase, ...]
    properties: tuple[str, ...]
    """All that there are."""
    tried: tuple[TriedProperty, ...]
    one_sided: tuple[str, ...] = ()
    """Rules of which no spec was found that they refuse."""

    @property
    def untaken(self) -> Iterator[str]:
        """Properties of which no value was found that the server takes."""
        return (each.property.name for each in self.tried if not each.taken)


async def plan_specs(
    schema: Schema,
    good: Spec,
    refusal: Refusal,
    *,
    count: int,
    seed: int,
    fixed: Collection[str] = (),
) -> SpecPlan:
    """So many cases; the same for the same seed. What is `fixed` is left as it is."""
    random = Random(f"specs {seed}")
    found = [each for each in properties(schema) if not is_part_of(each.name, fixed)]
    # With fewer cases than properties, another seed tries others.
    chosen = list(found)
    random.shuffle(chosen)
    tried = [await _tried(schema, good, refusal, each) for each in chosen[:count]]
    main = [made for each in tried if (made := main_case(good, schema, each)) is not None]
    further = [made for each in tried for made in further_cases(good, schema, each)]
    random.shuffle(further)
    ruled, one_sided = await _both_sides(schema, good, refusal, count - len(main))
    cases = [*main, *ruled, *further][:count]
    # Half of what follows the main cases is about several properties at once.
    mixed = max(0, min(count - len(main) - len(ruled), (count - len(main)) // 2))
    mixes = list(_mixed(schema, good, tried, random, max(mixed, count - len(cases))))
    cases = [*main, *ruled, *further[: count - len(main) - len(ruled) - len(mixes)], *mixes]
    names = tuple(each.name for each in found)
    return SpecPlan(good, tuple(cases[:count]), names, tuple(tried), tuple(one_sided))


async def _tried(schema: Schema, good: Spec, refusal: Refusal, changed: Property) -> TriedProperty:
    now = value_at(good, changed.path)
    taken: list[Any] = []
    refused: list[Any] = []
    for value in values_of(changed, now)[:MOST_VALUES]:
        why = await refusal(with_value(good, changed.path, value, schema))
        (refused if why else taken).append(value)
    without = with_value(good, changed.path, None, schema)
    removable = not changed.required and not await refusal(without)
    return TriedProperty(changed, tuple(taken), tuple(refused), removable)


async def _both_sides(
    schema: Schema, good: Spec, refusal: Refusal, count: int
) -> tuple[list[SpecCase], list[str]]:
    """For every rule a spec that it refuses, with one that it takes and differs in the same."""
    found, one_sided = [], []
    known = {each.path: each for each in properties(schema)}
    for rule in list(rules(schema))[: max(0, count)]:
        named = [known[path] for path in rule.names if path in known]
        case = await _ruled(schema, good, refusal, rule, named)
        if case is None:
            one_sided.append(rule.text)
        else:
            found.append(case)
    return found, one_sided


async def _ruled(
    schema: Schema, good: Spec, refusal: Refusal, rule: Rule, named: Sequence[Property]
) -> SpecCase | None:
    choices = [
        [*values_of(each, value_at(good, each.path))[:RULE_VALUES], None]
        for each in named[:MOST_TOGETHER]
    ]
    taken: Spec | None = None
    refused: Spec | None = None
    for values in product(*choices):
        spec = good
        for each, value in zip(named, values, strict=False):
            spec = with_value(spec, each.path, value, schema)
        why = await refusal(spec)
        if not why:
            taken = taken or spec
        elif rule.message in why:
            refused = refused or spec
        if taken is not None and refused is not None:
            break
    if refused is None:
        return None
    specs = (refused, taken, refused) if taken is not None else (refused,)
    return SpecCase(specs, tuple(each.name for each in named))


def _mixed(
    schema: Schema, good: Spec, tried: Iterable[TriedProperty], random: Random, count: int
) -> Iterator[SpecCase]:
    """Several properties one after the other, each beside those before."""
    usable = [each for each in tried if each.taken]
    if len(usable) < 2:
        return
    for _ in range(count):
        chosen = random.sample(usable, min(len(usable), random.randint(2, MOST_TOGETHER)))
        spec, specs = good, []
        for each in chosen:
            value = random.choice(each.taken)
            spec = with_value(spec, each.property.path, value, schema)
            specs.append(spec)
        yield SpecCase(tuple(specs), tuple(each.property.name for each in chosen))
