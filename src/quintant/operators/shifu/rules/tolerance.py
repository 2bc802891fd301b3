"""Which taints a deviceShifu lives with. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.core import Taint, Toleration

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
KEEPS_OUT = ("NoSchedule", "NoExecute")
BEAR_SECONDS = 600
"""Longer than it takes us to evacuate: the taint manager must not come between."""
BORNE = tuple(
    Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=BEAR_SECONDS)
    for key in (NOT_READY, UNREACHABLE)
)
"""What every deviceShifu tolerates."""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration is for a taint, as the scheduler sees it."""
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", taint.key)
    return (toleration.key, toleration.value) == (taint.key, taint.value)


def untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> list[Taint]:
    """The taints that keep a deviceShifu out."""
    borne = (*BORNE, *tolerations)
    return [
        taint
        for taint in taints
        if taint.effect in KEEPS_OUT and not any(tolerates(each, taint) for each in borne)
    ]
