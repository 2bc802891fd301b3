"""Typed admission: a handler gets the old and the new object, and returns its verdict.

A validator allows or denies; a mutator returns the object as it should be, and the JSON patch is
worked out from the difference. Both are plain async functions, or objects with `__call__`:

    async def ports(old: Portal | None, new: Portal | None, admission: Admission) -> Denied | None:
        if new and new.spec.port == 22:
            return Denied("port 22 is taken")
        return None

Between decoding and the answer nothing here does I/O; `review` adds deadlines and the wire.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct

from quintant.api.admission import AdmissionRequest, AdmissionResponse, UserInfo, given
from quintant.client.json_patch import Lossy, make_json_patch
from quintant.core.codec import decode, encode
from quintant.core.errors import Cause, Details, Status, Undecodable
from quintant.core.object import K, Object
from quintant.runtime.cache.client import Client
from quintant.runtime.webhook.failure import WebhookFailure, failing_as

K_contra = TypeVar("K_contra", bound=Object, contravariant=True)


class Admission(Struct, frozen=True):
    """The change under review: who asks, for what, and whether it is only a rehearsal."""

    request: AdmissionRequest
    client: Client
    """For verdicts that depend on other objects; the answer is due within seconds."""

    @property
    def operation(self) -> str:
        """CREATE, UPDATE or DELETE."""
        return self.request.operation

    @property
    def user(self) -> UserInfo:
        """Who asked for the change."""
        return self.request.user_info

    @property
    def dry_run(self) -> bool:
        """Whether nothing will be stored; a handler with effects must then have none."""
        return bool(self.request.dry_run)


class Allowed(Struct, frozen=True):
    """The change may happen; `warnings` are shown to the client that sent it."""

    warnings: tuple[str, ...] = ()


class Denied(Struct, frozen=True):
    """The change must not happen; `message` and `causes` say why, to the client that sent it."""

    message: str
    reason: str = "Forbidden"
    code: int = 403
    causes: tuple[Cause, ...] = ()
    warnings: tuple[str, ...] = ()


Verdict = Allowed | Denied | None
"""What a validator returns; None lets the change happen without a word."""


def invalid(*causes: Cause, warnings: tuple[str, ...] = ()) -> Denied:
    """A denial for broken rules, all of them at once, each with the path of its field."""
    message = "; ".join(f"{cause.field}: {cause.message}" for cause in causes)
    return Denied(message, reason="Invalid", code=422, causes=causes, warnings=warnings)


class Validator(Protocol[K_contra]):
    """Judges a change: `old` is None on CREATE, `new` is None on DELETE."""

    async def __call__(
        self, old: K_contra | None, new: K_contra | None, admission: Admission, /
    ) -> Verdict: ...


class Mutator(Protocol[K]):
    """Returns the object as it should be stored: changed, as it came, or denied.

    It is asked again when a later webhook changed the object (reinvocation), so it must accept
    its own work.
    """

    async def __call__(self, new: K, admission: Admission, /) -> K | Denied: ...


async def validate(
    kind: type[K], validator: Validator[K], admission: Admission
) -> AdmissionResponse:
    """Ask a validator; WebhookFailure when it gives no verdict."""
    request = admission.request
    old, new = _typed(kind, request.old_object), _typed(kind, request.object)
    if old is None and new is None:
        raise _nothing()
    with failing_as("the validator"):
        verdict = await validator(old, new, admission)
    if isinstance(verdict, Denied):
        return _denied(request, verdict)
    return _allowed(request, verdict)


async def mutate(kind: type[K], mutator: Mutator[K], admission: Admission) -> AdmissionResponse:
    """Ask a mutator; WebhookFailure when it gives no verdict."""
    request = admission.request
    new = _typed(kind, request.object)
    if new is None:
        raise _nothing()
    with failing_as("the mutator"):
        verdict = await mutator(new, admission)
    if isinstance(verdict, Denied):
        return _denied(request, verdict)
    return _amended(request, new, verdict)


def _typed(kind: type[K], raw: msgspec.Raw) -> K | None:
    try:
        return decode(kind, raw) if given(raw) else None
    except Undecodable as error:
        raise WebhookFailure(400, "BadRequest", str(error)) from error


def _nothing() -> WebhookFailure:
    return WebhookFailure(400, "BadRequest", "the review carries no object")


def _allowed(request: AdmissionRequest, verdict: Allowed | None) -> AdmissionResponse:
    warnings = verdict.warnings if verdict else ()
    return AdmissionResponse(uid=request.uid, allowed=True, warnings=warnings)


def _denied(request: AdmissionRequest, verdict: Denied) -> AdmissionResponse:
    details = Details(
        name=request.name, group=request.kind.group, kind=request.kind.kind, causes=verdict.causes
    )
    status = Status("Failure", verdict.message, verdict.reason, details, verdict.code)
    return AdmissionResponse(
        uid=request.uid, allowed=False, status=status, warnings=verdict.warnings
    )


def _amended(request: AdmissionRequest, before: K, after: K) -> AdmissionResponse:
    if type(after) is not type(before):
        wanted, got = type(before).__name__, type(after).__name__
        raise WebhookFailure(500, "InternalError", f"the mutator returned {got}, not {wanted}")
    try:
        patch = make_json_patch(before, after, msgspec.json.decode(request.object))
    except Lossy as error:
        raise WebhookFailure(500, "InternalError", str(error)) from error
    if not patch:
        return AdmissionResponse(uid=request.uid, allowed=True)
    return AdmissionResponse(
        uid=request.uid, allowed=True, patch=encode(patch), patch_type="JSONPatch"
    )
