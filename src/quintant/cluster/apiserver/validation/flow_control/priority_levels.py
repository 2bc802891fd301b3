"""ValidatePriorityLevelConfiguration: shares, and queues of requests that have to wait."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2

from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.flow_control.bootstrap import (
    EXEMPT,
    MANDATORY,
    priority_levels,
)
from quintant.cluster.apiserver.validation.flow_control.status import condition_causes
from quintant.core.errors import Cause

MOST_QUEUES = 10_000_000
HASH_BITS = 60
"""Bits of a request's hash that can choose its queues."""
_WHOLE = 100
_SHARES = "must be a non-negative integer"
_PERCENT = "must be between 0 and 100, inclusive"
_ROUNDTRIP = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"


def validate_priority_level(level: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a priority level."""
    name, spec = level["metadata"].get("name") or "", level.get("spec") or {}
    if _ROUNDTRIP in (level["metadata"].get("annotations") or {}):
        yield forbidden("metadata.annotations", f"annotation '{_ROUNDTRIP}' is forbidden")
    yield from _spec_causes(name, spec)
    yield from _mandatory_causes(name, spec)
    yield from condition_causes(level)


def _spec_causes(name: str, spec: JsonObject) -> Iterator[Cause]:
    sort, exempt, limited = spec.get("type") or "", spec.get("exempt"), spec.get("limited")
    if (name == EXEMPT) != (sort == "Exempt"):
        text = "must be 'Exempt' if and only if `name` is 'exempt'"
        yield invalid("spec.type", sort, text)
    match sort:
        case "Exempt":
            if limited is not None:
                yield forbidden("spec.limited", "must be nil if the type is not Limited")
            yield from _share_causes(exempt or {}, "spec.exempt")
        case "Limited":
            if exempt is not None:
                yield forbidden("spec.exempt", "must be nil if the type is Limited")
            if limited is None:
                yield required("spec.limited", "must not be empty when type is Limited")
            else:
                yield from _limited_causes(limited, "spec.limited")
        case "":
            yield required("spec.type")
        case _:
            yield not_supported("spec.type", sort, ("Exempt", "Limited"))


def _limited_causes(limited: JsonObject, path: str) -> Iterator[Cause]:
    shares = limited.get("nominalConcurrencyShares") or 0
    if shares < 0:
        yield invalid(f"{path}.nominalConcurrencyShares", shares, _SHARES)
    yield from _response_causes(limited.get("limitResponse") or {}, f"{path}.limitResponse")
    yield from _lendable_causes(limited, path)
    borrowed = limited.get("borrowingLimitPercent") or 0
    if borrowed < 0:
        text = "if specified, must be a non-negative integer"
        yield invalid(f"{path}.borrowingLimitPercent", borrowed, text)


def _share_causes(exempt: JsonObject, path: str) -> Iterator[Cause]:
    shares = exempt.get("nominalConcurrencyShares") or 0
    if shares < 0:
        yield invalid(f"{path}.nominalConcurrencyShares", shares, _SHARES)
    yield from _lendable_causes(exempt, path)


def _lendable_causes(level: JsonObject, path: str) -> Iterator[Cause]:
    lendable = level.get("lendablePercent") or 0
    if not 0 <= lendable <= _WHOLE:
        yield invalid(f"{path}.lendablePercent", lendable, _PERCENT)


def _response_causes(response: JsonObject, path: str) -> Iterator[Cause]:
    sort, queuing = response.get("type") or "", response.get("queuing")
    match sort:
        case "Reject":
            if queuing is not None:
                text = "must be nil if limited.limitResponse.type is not Limited"
                yield forbidden(f"{path}.queuing", text)
        case "Queue":
            if queuing is None:
                text = "must not be empty if limited.limitResponse.type is Limited"
                yield required(f"{path}.queuing", text)
            else:
                yield from _queuing_causes(queuing, f"{path}.queuing")
        case "":
            yield required(f"{path}.type")
        case _:
            yield not_supported(f"{path}.type", sort, ("Queue", "Reject"))


def _queuing_causes(queuing: JsonObject, path: str) -> Iterator[Cause]:
    queues, hand = queuing.get("queues") or 0, queuing.get("handSize") or 0
    length = queuing.get("queueLengthLimit") or 0
    if length <= 0:
        yield invalid(f"{path}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        yield invalid(f"{path}.queues", queues, "must be positive")
    elif queues > MOST_QUEUES:
        yield invalid(f"{path}.queues", queues, f"must not be greater than {MOST_QUEUES}")
    if hand <= 0:
        yield invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        text = f"should not be greater than queues ({queues})"
        yield invalid(f"{path}.handSize", hand, text)
    elif ceil(log2(queues) * hand) > HASH_BITS:
        text = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater "
            f"than {HASH_BITS}"
        )
        yield invalid(f"{path}.handSize", hand, text)


def _mandatory_causes(name: str, spec: JsonObject) -> Iterator[Cause]:
    if name not in MANDATORY:
        return
    wanted, text = priority_levels()[name], f"spec of '{name}' must equal the fixed value"
    if name == EXEMPT:
        wanted = {**wanted, "exempt": spec.get("exempt")}
        spec = {**spec, "exempt": spec.get("exempt")}
        text = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
    if spec != wanted:
        yield invalid("spec", spec, text)
