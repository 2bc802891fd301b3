"""StaticEstimatedCostLimit, StaticEstimatedCRDCostLimit: the CEL cost that rules may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from quintant.cluster.apiserver.meta.field_errors import forbidden
from quintant.cluster.apiserver.meta.status import REQUEST_LIMIT
from quintant.core.errors import Cause

RULE_LIMIT = 10_000_000
"""What one rule may cost at worst, over every place it is about."""
SCHEMA_LIMIT = 100_000_000
"""What all rules of a schema may cost together."""
MOST_EXPENSIVE = 4
"""Rules that are named when all together cost too much; each at least a hundredth of the limit."""
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)


class Cardinality(Struct, frozen=True):
    """How often something can occur in an object; None if no schema above bounds it."""

    count: int | None = None

    def below(self, schema: Mapping[str, Any]) -> Cardinality:
        """How often what a schema contains can occur."""
        factor: int | None = 1
        if schema.get("type") == "array":
            factor = schema.get("maxItems")
        elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
            factor = schema.get("maxProperties")
        if self.count is None or factor is None:
            return Cardinality()
        return Cardinality(self.count * max(factor, 0))

    def times(self, cost: int, least: int) -> int:
        """What something costs wherever it occurs; `least` bytes fit so often into a request."""
        count = REQUEST_LIMIT // (least + 1) if self.count is None else self.count
        return cost * count


class CostBudget(Struct):
    """The costs of all rules of a schema."""

    total: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def spend(self, path: str, cost: int) -> None:
        """Count a rule."""
        self.total += cost
        if cost >= SCHEMA_LIMIT // 100:
            ranked = sorted([*self.expensive, (cost, path)], key=lambda each: -each[0])
            self.expensive = ranked[:MOST_EXPENSIVE]

    def errors(self, path: str) -> Iterator[Cause]:
        """A complaint if all rules together cost too much."""
        if self.total <= SCHEMA_LIMIT:
            return
        text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3"
        for _, rule_path in self.expensive:
            yield forbidden(rule_path, f"{text} schema")
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        yield forbidden(path, too_expensive(name, self.total, SCHEMA_LIMIT))


class RuleSite(Struct, frozen=True):
    """Where in a schema rules are, and what counts for them there."""

    path: str
    root: bool
    """It describes whole resources."""
    uncorrelated: str
    """The schema above whose values have no counterpart in an older object, if there is one."""
    cardinality: Cardinality
    budget: CostBudget


def too_expensive(name: str, cost: int, limit: int) -> str:
    """What is said of something that costs more than it may."""
    factor = cost / limit
    if factor > 100:
        spelt = "more than 100x"
    else:
        spelt = f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {spelt} {_ADVICE}"
