"""The types that many kinds share: conditions, label selectors, references.

`set_condition` is the one way a condition changes: keyed by type, and `lastTransitionTime` moves
only when the status flips, so that an unchanged world gives an equal tuple and no write. Who
decides about several conditions makes a `ConditionClaim` of each, and has them set at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from quintant.core.clock import timestamp
from quintant.core.object import Model, ObjectMeta, OwnerReference

__all__ = [
    "Condition",
    "ConditionClaim",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ObjectMeta",
    "ObjectReference",
    "OwnerReference",
    "condition_of",
    "set_condition",
    "set_conditions",
]


class Condition(Model):
    """One aspect of an object's state: True, False or Unknown, and since when."""

    type: str
    """What it is about, such as Ready."""
    status: str
    """True, False or Unknown."""
    reason: str = ""
    """Why, in one word for programs."""
    message: str = ""
    """Why, in words for people."""
    observed_generation: int | None = None
    """The generation of the object that was judged."""
    last_transition_time: str | None = None
    """When the status last changed."""


class ConditionClaim(NamedTuple):
    """What is to be said about one condition, before it has its times."""

    type: str
    status: str | bool
    reason: str
    message: str = ""


class ObjectReference(Model):
    """Where another object is; which fields count depends on who reads it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""


class LabelSelectorRequirement(Model):
    """One term of a selector: a key, In / NotIn / Exists / DoesNotExist (or Gt / Lt), values."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(Model):
    """Which labels an object must have; an empty selector takes every object."""

    match_labels: Mapping[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            _fulfilled(term, labels) for term in self.match_expressions
        )


def set_condition(
    conditions: Sequence[Condition],
    type: str,
    *,
    status: str | bool,
    reason: str,
    message: str = "",
    generation: int | None = None,
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions with one of them set; the others, and their order, are kept.

    `generation` is that of the object the verdict was reached on. `lastTransitionTime` becomes
    `now` only when the status differs from the one before.
    """
    status = str(status)
    before = condition_of(conditions, type)
    since = before.last_transition_time if before and before.status == status else None
    after = Condition(
        type=type, status=status, reason=reason, message=message,
        observed_generation=generation, last_transition_time=since or timestamp(now),
    )  # fmt: skip
    if before is None:
        return (*conditions, after)
    return tuple(after if given is before else given for given in conditions)


def set_conditions(
    conditions: Sequence[Condition],
    claims: Iterable[ConditionClaim],
    *,
    generation: int | None = None,
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions with what is claimed of them; of two claims about one, the later counts."""
    found = tuple(conditions)
    for claim in claims:
        found = set_condition(
            found, claim.type, status=claim.status, reason=claim.reason, message=claim.message,
            generation=generation, now=now,
        )  # fmt: skip
    return found


def condition_of(conditions: Sequence[Condition], type: str) -> Condition | None:
    """The condition of a type, or None when no controller has judged that aspect yet."""
    return next((given for given in conditions if given.type == type), None)


def _fulfilled(term: LabelSelectorRequirement, labels: Mapping[str, str]) -> bool:
    held = labels.get(term.key)
    match term.operator:
        case "In":
            return held in term.values
        case "NotIn":
            return held not in term.values
        case "Exists":
            return held is not None
        case "DoesNotExist":
            return held is None
    raise ValueError(f"{term.operator!r} is not an operator of label selectors")
