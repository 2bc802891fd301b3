"""LimitRanger: defaults of containers without requests, and the bounds of LimitRanges.

Defaults are set when a pod is made (`default_limits`); bounds are held, for claims on every change,
once all others have had their say (`enforce_limits`). The texts are a real server's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.admission.plugins.pod_requests import pod_requests
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.status import forbidden
from quintant.cluster.apiserver.meta.types import JsonObject

RANGES = "limitranges"
ANNOTATION = "kubernetes.io/limit-ranger"
_CONTAINER, _POD, _CLAIM = "Container", "Pod", "PersistentVolumeClaim"
_LISTS = {"containers": "container", "initContainers": "init container"}
_SMALL_RATIO = 1024
"""Up to here a ratio is compared in thousandths."""

Amounts = Mapping[str, str]
"""Quantities by the name of their resource."""


class Limit(msgspec.Struct, frozen=True, rename="camel"):
    """What one entry of a LimitRange says of one type of object."""

    type: str
    min: dict[str, str] = {}
    max: dict[str, str] = {}
    default: dict[str, str] = {}
    default_request: dict[str, str] = {}
    max_limit_request_ratio: dict[str, str] = {}


class _Limits(msgspec.Struct, frozen=True):
    limits: list[Limit] = []


class _Range(msgspec.Struct, frozen=True):
    spec: _Limits = _Limits()


def default_limits(draft: Draft, context: AdmissionContext) -> None:
    """Give the containers of a new pod the defaults of its namespace, in place."""
    if draft.live is not None:
        return
    for found in _ranges(draft, context):
        own = [limit for limit in found.limits if limit.type == _CONTAINER]
        limits = {name: each for limit in own for name, each in limit.default.items()}
        requests = {name: each for limit in own for name, each in limit.default_request.items()}
        messages = [
            line
            for kind, called in _LISTS.items()
            for container in draft.obj["spec"].get(kind) or ()
            for line in _filled(container, called, limits=limits, requests=requests)
        ]
        if messages:
            metadata = draft.obj["metadata"]
            text = f"LimitRanger plugin set: {'; '.join(messages)}"
            metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: text}


def enforce_limits(draft: Draft, context: AdmissionContext) -> None:
    """Refuse a pod or a claim that asks for less or for more than its namespace allows."""
    live = draft.live
    if live is not None and live["metadata"].get("deletionTimestamp"):
        return
    plural = draft.target.kind.resource.plural
    if plural == "pods" and live is not None:
        return
    complaints = _pod_complaints if plural == "pods" else _claim_complaints
    for found in _ranges(draft, context):
        messages = list(dict.fromkeys(complaints(found.limits, draft.obj["spec"])))
        if messages:
            text = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
            raise forbidden(draft.target.kind.resource, draft.label, text)


def _ranges(draft: Draft, context: AdmissionContext) -> Iterator[_Limits]:
    for each in context.list_in(RANGES, draft.target.namespace, _Range):
        yield each.spec


def _filled(container: JsonObject, called: str, **defaults: Amounts) -> Iterator[str]:
    """Set what a container does not say; what was set, in words."""
    resources = container.get("resources") or {}
    added: dict[str, list[str]] = {}
    for sort, amounts in defaults.items():
        given = resources.get(sort) or {}
        added[sort] = sorted(amounts.keys() - given.keys())
        if added[sort]:
            resources[sort] = {**given, **{name: amounts[name] for name in added[sort]}}
            container["resources"] = resources
    for sort in ("requests", "limits"):
        if added[sort]:
            names = ", ".join(added[sort])
            yield f"{names} {sort.removesuffix('s')} for {called} {container['name']}"


def _pod_complaints(limits: list[Limit], spec: JsonObject) -> Iterator[str]:
    for limit in limits:
        if limit.type == _CONTAINER:
            for kind in _LISTS:
                for container in spec.get(kind) or ():
                    resources = container.get("resources") or {}
                    yield from _complaints(limit, *_amounts(resources))
        elif limit.type == _POD:
            yield from _complaints(
                limit, pod_requests(spec, "requests"), pod_requests(spec, "limits")
            )


def _claim_complaints(limits: list[Limit], spec: JsonObject) -> Iterator[str]:
    requests, _ = _amounts(spec.get("resources") or {})
    for limit in limits:
        if limit.type == _CLAIM:
            yield from _each(limit.min, _least(limit.type, requests, {}))
            yield from _each(limit.max, _most_requested(limit.type, requests))


def _complaints(limit: Limit, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _each(limit.min, _least(limit.type, requests, limits))
    yield from _each(limit.max, _most(limit.type, requests, limits))
    yield from _each(limit.max_limit_request_ratio, _ratio(limit.type, requests, limits))


def _amounts(resources: JsonObject) -> tuple[Amounts, Amounts]:
    return resources.get("requests") or {}, resources.get("limits") or {}


_Bound = Callable[[str, str], str]
"""From a resource and its bound to what is wrong, or nothing."""


def _each(bounds: Amounts, wrong: _Bound) -> Iterator[str]:
    yield from filter(None, (wrong(name, bounds[name]) for name in sorted(bounds)))


def _least(type: str, requests: Amounts, limits: Amounts) -> _Bound:
    def wrong(name: str, bound: str) -> str:
        message, request, limit = (
            f"minimum {name} usage per {type} is {bound}",
            *_of(name, requests, limits),
        )
        if request is None:
            return f"{message}.  No request is specified"
        if _value(request) < _value(bound):
            return f"{message}, but request is {request}"
        below = limit is not None and _value(limit) < _value(bound)
        return f"{message}, but limit is {limit}" if below else ""

    return wrong


def _most(type: str, requests: Amounts, limits: Amounts) -> _Bound:
    def wrong(name: str, bound: str) -> str:
        message, request, limit = (
            f"maximum {name} usage per {type} is {bound}",
            *_of(name, requests, limits),
        )
        if limit is None:
            return f"{message}.  No limit is specified"
        if _value(limit) > _value(bound):
            return f"{message}, but limit is {limit}"
        above = request is not None and _value(request) > _value(bound)
        return f"{message}, but request is {request}" if above else ""

    return wrong


def _most_requested(type: str, requests: Amounts) -> _Bound:
    def wrong(name: str, bound: str) -> str:
        message, request = f"maximum {name} usage per {type} is {bound}", requests.get(name)
        if request is None:
            return f"{message}.  No request is specified"
        return f"{message}, but request is {request}" if _value(request) > _value(bound) else ""

    return wrong


def _ratio(type: str, requests: Amounts, limits: Amounts) -> _Bound:
    def wrong(name: str, bound: str) -> str:
        message = f"{name} max limit to request ratio per {type} is {bound}"
        request, limit = (_value(each or "0") for each in _of(name, requests, limits))
        if not request:
            return f"{message}, but no request is specified or request is 0"
        if not limit:
            return f"{message}, but no limit is specified or limit is 0"
        found, most = float(limit) / float(request), _value(bound)
        allowed = float(most) if most <= _SMALL_RATIO else float(int(most))
        return f"{message}, but provided ratio is {found:f}" if found > allowed else ""

    return wrong


def _of(name: str, *amounts: Amounts) -> Iterator[Any]:
    return (each.get(name) for each in amounts)


def _value(text: str) -> Decimal:
    return parse_quantity(text)
