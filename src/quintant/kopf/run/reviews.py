"""Admission reviews: what is asked, which handlers are called, and what is answered."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec

from quintant.client.json_patch import make_json_patch
from quintant.kopf.declare.errors import (
    AdmissionError,
    ErrorsMode,
    PermanentError,
    TemporaryError,
)
from quintant.kopf.declare.filters import matches
from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.declare.lifecycles import all_at_once
from quintant.kopf.declare.registry import WEBHOOK_KINDS, OperatorRegistry
from quintant.kopf.declare.resource import Resource
from quintant.kopf.persist.progress import ChangeProgress
from quintant.kopf.run.causes import HandlerCause
from quintant.kopf.run.invoke import Execution, call_handlers
from quintant.kopf.run.memories import Memories
from quintant.kopf.values.body import Body
from quintant.kopf.values.diff import diff
from quintant.kopf.values.loggers import LocalObjectLogger
from quintant.kopf.values.patch import Patch

_ORDER = (AdmissionError, PermanentError, TemporaryError)
"""Whose message is told, if several handlers refuse."""


class NoReview(Exception):
    """What was sent is no review of a resource that handlers are about."""


@dataclass(frozen=True)
class Reviewer:
    """Answers reviews."""

    execution: Execution
    registry: OperatorRegistry
    memories: Memories
    indices: Mapping[str, Any]
    resources: Mapping[tuple[str, str, str], Resource]

    async def answer(self, id: str, document: Any, headers: Mapping[str, str]) -> dict[str, Any]:
        """The answer of one handler, or of all if none is named; NoReview if it is none."""
        request = document.get("request") if isinstance(document, dict) else None
        if not isinstance(request, dict):
            raise NoReview("a review has a request")
        cause = self._cause(request, headers)
        handlers = [each for each in self._of(unquote(id), request) if matches(each, cause)]
        progress = ChangeProgress.begin(handlers, self.execution.now())
        outcomes = await call_handlers(
            self.execution, handlers, cause, progress,
            lifecycle=all_at_once, errors=ErrorsMode.PERMANENT,
        )  # fmt: skip
        errors = [each.exception for each in outcomes.values() if each.exception is not None]
        response = _response(request, errors, cause)
        version = document.get("apiVersion") or "admission.k8s.io/v1"
        return {"apiVersion": version, "kind": "AdmissionReview", "response": response}

    def _cause(self, request: Mapping[str, Any], headers: Mapping[str, str]) -> HandlerCause:
        old, new = request.get("oldObject"), request.get("object")
        raw = new if isinstance(new, dict) else old
        if not isinstance(raw, dict):
            raise NoReview("a review has an object, or an old one")
        named = request.get("resource") or {}
        group, version, plural = (
            str(named.get(each) or "") for each in ("group", "version", "resource")
        )
        resource = self.resources.get((group, version, plural))
        if resource is None:
            raise NoReview(f"no handler is about {group}/{version}/{plural}")
        body, uid = Body(raw), str((raw.get("metadata") or {}).get("uid") or "")
        held = self.memories.find(uid)
        extra: dict[str, Any] = {
            "dryrun": bool(request.get("dryRun")),
            "headers": headers,
            "sslpeer": {},
            "userinfo": request.get("userInfo") or {},
            "warnings": [],
            "operation": request.get("operation"),
            "subresource": request.get("subResource") or None,
            "old": None if old is None else Body(old),
            "new": None if new is None else Body(new),
            "diff": diff(old, new),
        }
        return HandlerCause(
            resource=resource,
            body=body,
            patch=Patch(body=body),
            memo=self.memories.memo() if held is None else held.memo,
            logger=LocalObjectLogger(body=body),
            indices=self.indices,
            extra=extra,
        )

    def _of(self, id: str, request: Mapping[str, Any]) -> Iterable[Handler]:
        """The handlers that a review is for."""
        sub, operation = request.get("subResource") or None, request.get("operation")
        for each in self.registry.of(*WEBHOOK_KINDS):
            if id and each.id != id:
                continue
            if each.subresource not in ("*", sub):
                continue
            mutates = each.kind is HandlerKind.MUTATE
            if mutates and operation == "DELETE" and set(each.operations or ()) != {"DELETE"}:
                continue
            yield each


def _response(
    request: Mapping[str, Any], errors: list[Exception], cause: HandlerCause
) -> dict[str, Any]:
    response: dict[str, Any] = {"uid": request.get("uid") or "", "allowed": not errors}
    if warnings := cause.extra["warnings"]:
        response["warnings"] = [str(each) for each in warnings]
    if cause.patch:
        before = dict(cause.body.raw)
        after = cause.patch.applied(before)
        operations = make_json_patch(before, after, before)  # type: ignore[type-var]
        if operations:
            response["patch"] = base64.b64encode(msgspec.json.encode(operations)).decode()
            response["patchType"] = "JSONPatch"
    if errors:
        first = min(errors, key=_rank)
        code = (first.code if isinstance(first, AdmissionError) else None) or 500
        response["status"] = {"message": str(first) or repr(first), "code": code}
    return response


def _rank(error: Exception) -> int:
    found = (rank for rank, kind in enumerate(_ORDER) if isinstance(error, kind))
    return next(found, len(_ORDER))
