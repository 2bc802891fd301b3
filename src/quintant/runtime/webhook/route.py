"""What happens at one path: read a review, decide within the time there is, write the answer.

A review whose uid can be read gets a review back, whatever went wrong; WebhookFailure is raised
only for bodies that are no review at all. Answers go out before the API server stops waiting, so
that its user reads our reason and not "context deadline exceeded".
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from quintant.api.admission import (
    ADMISSION_V1,
    ADMISSION_V1BETA1,
    CONVERSION_V1,
    AdmissionRequest,
    AdmissionResponse,
    AdmissionReview,
    ConversionRequest,
    ConversionResponse,
    ConversionReview,
)
from quintant.core.codec import BROKEN, decoder, encode
from quintant.core.errors import Status
from quintant.core.object import Model
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.webhook.admission import Admission
from quintant.runtime.webhook.conversion import Conversions, convert_all
from quintant.runtime.webhook.failure import WebhookFailure
from quintant.runtime.webhook.hook import WebhookHandler

# An object and the one before it, 3 MiB each (the API server's own limit), and what is around them.
ADMISSION_BYTES = 7 * 1024 * 1024
# A conversion may carry a whole list.
CONVERSION_BYTES = 64 * 1024 * 1024

# How long before the API server stops waiting an answer goes out, and at most half of the time.
MARGIN_SECONDS = 0.5
# An API server names no time-out for a conversion; by default its own requests end after 60 s.
CONVERSION_SECONDS = 30.0

Review = AdmissionReview | ConversionReview
R = TypeVar("R", "_Admission", "_Conversion")
T = TypeVar("T")
log: Final = get_logger()


class ReviewRoute(ABC):
    """One path of a webhook server."""

    limit: ClassVar[int]
    versions: ClassVar[tuple[str, ...]]
    """The versions of a review that are understood; an answer is in the version of its review."""

    async def answer(self, body: bytes, timeout: float | None) -> tuple[bytes, int]:
        """The answer to a review, and the code it is counted by; WebhookFailure if it is none."""
        try:
            review, code = await self._decide(body, timeout)
        except RecursionError:
            review, code = self._fail(
                body, WebhookFailure(400, "BadRequest", "the body is too deep")
            )
        except WebhookFailure as failed:
            review, code = self._fail(body, failed)
        return encode(review), code

    def _fail(self, body: bytes, failed: WebhookFailure) -> tuple[Review, int]:
        head = _head(body)
        uid, version = head.request.uid, head.api_version
        if not uid:
            raise failed
        log.error(
            "failed review", reviewer=str(self), uid=uid, code=failed.code,
            why=failed.message, exc_info=failed.__cause__,
        )  # fmt: skip
        known = version if version in self.versions else self.versions[0]
        return self._failed(known, uid, failed), failed.code

    @abstractmethod
    async def _decide(self, body: bytes, timeout: float | None) -> tuple[Review, int]:
        """The review with its verdict, and its code; WebhookFailure when there is none."""

    @abstractmethod
    def _failed(self, version: str, uid: str, failed: WebhookFailure) -> Review:
        """The review that says why there is no verdict."""


@dataclass(frozen=True)
class AdmissionRoute(ReviewRoute):
    """Asks a hook; where it gives no verdict, its failure policy does."""

    limit = ADMISSION_BYTES
    versions: ClassVar[tuple[str, ...]] = (ADMISSION_V1, ADMISSION_V1BETA1)
    hook: WebhookHandler
    client: Client

    def __str__(self) -> str:
        return self.hook.name

    async def _decide(self, body: bytes, timeout: float | None) -> tuple[Review, int]:
        review = _read(_Admission, "AdmissionReview", body, self.versions)
        if review.request is None:
            raise _empty(review.kind)
        verdict = self.hook.decide(Admission(review.request, self.client))
        response = await _within(timeout or self.hook.settings.timeout_seconds, verdict)
        return _answered(review.api_version, response), _code(response.status)

    def _failed(self, version: str, uid: str, failed: WebhookFailure) -> Review:
        # The server's own failure policy is for webhooks that do not answer; we do.
        if self.hook.settings.failure_policy == "Ignore":
            warning = f"{self.hook.name} was ignored: {failed.message}"
            return _answered(version, AdmissionResponse(uid=uid, allowed=True, warnings=(warning,)))
        return _answered(version, AdmissionResponse(uid=uid, allowed=False, status=_status(failed)))


@dataclass(frozen=True)
class ConversionRoute(ReviewRoute):
    """Converts all the objects of a review, or says why not."""

    limit = CONVERSION_BYTES
    versions: ClassVar[tuple[str, ...]] = (CONVERSION_V1,)
    conversions: Conversions

    def __str__(self) -> str:
        return "conversion"

    async def _decide(self, body: bytes, timeout: float | None) -> tuple[Review, int]:
        review = _read(_Conversion, "ConversionReview", body, self.versions)
        if review.request is None:
            raise _empty(review.kind)
        converted = convert_all(self.conversions, review.request)
        response = await _within(timeout or CONVERSION_SECONDS, converted)
        return _converted(review.api_version, response), _code(response.result)

    def _failed(self, version: str, uid: str, failed: WebhookFailure) -> Review:
        return _converted(version, ConversionResponse(uid=uid, result=_status(failed)))


# Reviews come with a response too, full of nulls: only the request is read.
class _Admission(Model):
    api_version: str = ""
    kind: str = ""
    request: AdmissionRequest | None = None


class _Conversion(Model):
    api_version: str = ""
    kind: str = ""
    request: ConversionRequest | None = None


class _Uid(Model):
    uid: str = ""


class _Head(Model):
    """What is read of a review that cannot be read whole."""

    api_version: str = ""
    request: _Uid = _Uid()


def _head(body: bytes) -> _Head:
    try:
        head: _Head = decoder(_Head).decode(body)
    except BROKEN:
        return _Head()
    return head


def _read(view: type[R], kind: str, body: bytes, versions: tuple[str, ...]) -> R:
    try:
        review: R = decoder(view).decode(body)
    except BROKEN as error:
        raise WebhookFailure(400, "BadRequest", f"cannot read the {kind}: {error}") from None
    if review.kind != kind or review.api_version not in versions:
        wanted, got = " or ".join(versions), f"{review.api_version} {review.kind}"
        raise WebhookFailure(400, "BadRequest", f"expected {wanted} {kind}, got {got}")
    return review


def _empty(kind: str) -> WebhookFailure:
    return WebhookFailure(400, "BadRequest", f"the {kind} has no request")


async def _within(seconds: float, verdict: Awaitable[T]) -> T:
    limit = max(seconds - MARGIN_SECONDS, seconds / 2)
    try:
        async with asyncio.timeout(limit):
            return await verdict
    except TimeoutError:  # ours: one that a handler raises is a Failed by now
        raise WebhookFailure(504, "Timeout", f"there was no verdict within {limit:g} s") from None


def _answered(version: str, response: AdmissionResponse) -> Review:
    return AdmissionReview(api_version=version, kind="AdmissionReview", response=response)


def _converted(version: str, response: ConversionResponse) -> Review:
    return ConversionReview(api_version=version, kind="ConversionReview", response=response)


def _status(failed: WebhookFailure) -> Status:
    return Status("Failure", failed.message, failed.reason, code=failed.code)


def _code(status: Status | None) -> int:
    return status.code if status and status.code else 200
