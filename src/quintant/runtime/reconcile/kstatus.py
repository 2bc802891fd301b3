"""kstatus: Reconciling and Stalled, which GitOps tools judge objects by, from its conditions. Pure.

    conditions ──rules of the kind──> conditions, Reconciling, Stalled

    Stalled=True      a person has to change something before it goes on
    Reconciling=True  something is being brought about
    Ready             whatever the kind says of itself

The two are never True at once. They repeat a condition that is in the status already, so they
change with that one and cause no write of their own. What is not True is not there: a status says
nothing of how an object came to be as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions

READY: Literal["Ready"] = "Ready"
RECONCILING: Literal["Reconciling"] = "Reconciling"
STALLED: Literal["Stalled"] = "Stalled"
_LAST = {READY: 1, RECONCILING: 2, STALLED: 3}
"""They stand behind the others, in this order, whichever came first."""


class KstatusRule(Struct, frozen=True):
    """A condition by which an object is reconciling, or stalled."""

    verdict: Literal["Reconciling", "Stalled"]
    condition: str
    """The condition's type."""
    status: str
    """True, False or Unknown."""
    reasons: tuple[str, ...] = ()
    """One of these; none takes any."""

    def holds(self, condition: Condition | None) -> bool:
        """Whether a condition is one that this rule is about."""
        return (
            condition is not None
            and condition.status == self.status
            and (not self.reasons or condition.reason in self.reasons)
        )


def reconciling(condition: str, status: str, *reasons: str) -> KstatusRule:
    """That an object is being brought about while a condition has a status, for these reasons."""
    return KstatusRule(RECONCILING, condition, status, reasons)


def stalled(condition: str, status: str, *reasons: str) -> KstatusRule:
    """That a person is waited for while a condition has a status, for these reasons."""
    return KstatusRule(STALLED, condition, status, reasons)


def with_kstatus(
    conditions: Sequence[Condition],
    rules: Sequence[KstatusRule],
    *,
    generation: int | None = None,
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions with Reconciling or Stalled, by the first rule that holds; else with neither.

    A kind that sets one of the two itself has a rule about it, and it stays as it is.
    """
    own = {rule.condition for rule in rules}
    claims = [each for each in kstatus_claims(conditions, rules) if each.type not in own]
    over = {RECONCILING, STALLED} - own - {each.type for each in claims}
    kept = [each for each in conditions if each.type not in over]
    found = set_conditions(kept, claims, generation=generation, now=now)
    return tuple(sorted(found, key=lambda each: _LAST.get(each.type, 0)))


def kstatus_claims(
    conditions: Sequence[Condition], rules: Sequence[KstatusRule]
) -> Iterator[ConditionClaim]:
    """What follows from conditions: that the object is Reconciling or Stalled, or nothing."""
    for rule in rules:
        cause = condition_of(conditions, rule.condition)
        if cause is not None and rule.holds(cause):
            yield ConditionClaim(rule.verdict, True, cause.reason, cause.message)
            return
