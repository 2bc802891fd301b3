"""What a handler is called with, and why: one value for each kind of call. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from quintant.kopf.declare.handlers import Handler, Reason
from quintant.kopf.declare.resource import Resource
from quintant.kopf.persist.essence import Essence
from quintant.kopf.values.body import Body, deleting
from quintant.kopf.values.diff import Diff, diff, reduce
from quintant.kopf.values.fields import resolve
from quintant.kopf.values.flags import AsyncDaemonStopped, StopFlag, SyncDaemonStopped
from quintant.kopf.values.memo import Index
from quintant.kopf.values.patch import Patch

_NO_DIFF = Diff()


@dataclass(frozen=True, kw_only=True)
class HandlerCause:
    """Why handlers of an object are called."""

    resource: Resource
    body: Body
    patch: Patch
    memo: Any
    logger: Any
    indices: Mapping[str, Index[Any, Any]]
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What handlers of this kind get beside the rest."""
    reason: Reason | None = None
    initial: bool = False
    old: Essence | None = None
    new: Essence | None = None
    diff: Diff = _NO_DIFF
    stop: StopFlag | None = None

    @property
    def states(self) -> tuple[Any, Any] | None:
        """Old and new content; None where handlers are not about changes."""
        return None if self.reason is None else (self.old, self.new)

    def kwargs(self, *, sync: bool = True) -> dict[str, Any]:
        """The arguments of a handler; an index wins over whatever has its name."""
        meta = self.body.metadata
        given: dict[str, Any] = {
            "resource": self.resource,
            "body": self.body,
            "patch": self.patch,
            "memo": self.memo,
            "logger": self.logger,
            "spec": self.body.spec,
            "meta": meta,
            "status": self.body.status,
            "uid": meta.uid,
            "name": meta.name,
            "namespace": meta.namespace,
            "labels": meta.labels,
            "annotations": meta.annotations,
            **self.extra,
        }
        if self.reason is not None:
            given |= {"reason": self.reason, "old": self.old, "new": self.new, "diff": self.diff}
        if self.stop is not None:
            flag = self.stop
            given["stopped"] = SyncDaemonStopped(flag) if sync else AsyncDaemonStopped(flag)
        return {**given, **self.indices}

    def at(self, handler: Handler) -> HandlerCause:
        """The cause as a handler of one field sees it."""
        if self.reason is None or not handler.field:
            return self
        path = handler.field
        old, new = resolve(self.old, path), resolve(self.new, path)
        return replace(self, old=old, new=new, diff=reduce(self.diff, path))


@dataclass(frozen=True, kw_only=True)
class ActivityCause:
    """Why handlers of the operator itself are called."""

    memo: Any
    logger: Any
    indices: Mapping[str, Index[Any, Any]]
    activity: str
    settings: Any

    def kwargs(self, *, sync: bool = True) -> dict[str, Any]:
        """The arguments of a handler."""
        return {
            "memo": self.memo,
            "logger": self.logger,
            "activity": self.activity,
            "settings": self.settings,
            **self.indices,
        }

    def at(self, handler: Handler) -> ActivityCause:
        """The same for every handler."""
        return self


def reason_of(
    body: Mapping[str, Any],
    finalizer: str,
    old: Essence | None,
    changes: Diff,
    *,
    gone: bool,
    initial: bool,
) -> Reason:
    """What happened to an object, from what it is and what was handled of it."""
    if gone:
        return Reason.GONE
    if deleting(body):
        return Reason.DELETE if held(body, finalizer) else Reason.FREE
    if old is None:
        return Reason.CREATE
    if changes:
        return Reason.UPDATE
    return Reason.RESUME if initial else Reason.NOOP


def held(body: Mapping[str, Any], finalizer: str) -> bool:
    """Whether our finalizer holds an object."""
    return finalizer in (resolve(body, ("metadata", "finalizers"), ()) or ())


def difference(old: Essence | None, new: Essence | None) -> Diff:
    """What changed since an object was last handled."""
    return diff(old, new)


def elapsed(since: datetime, now: datetime) -> float:
    """Seconds between two moments."""
    return (now - since).total_seconds()
