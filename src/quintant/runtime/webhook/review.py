"""Reviews as bytes: what an API server posts, answered without knowing of sockets.

`ReviewHandler` is the whole webhook server but its listener. The TLS server calls `answer`; a
cluster in the same process calls `review`. Each request is counted once, by the code of its
verdict, and a cancelled one is not answered at all.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from quintant.client.transport import JSON, ApiResponse
from quintant.core.clock import monotonic
from quintant.core.codec import encode
from quintant.core.errors import from_reply
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook.declaration import CONVERT, WebhookDeclarations
from quintant.runtime.webhook.failure import WebhookFailure
from quintant.runtime.webhook.route import AdmissionRoute, ConversionRoute, ReviewRoute

# What a request is counted as when it is cancelled before its answer.
CANCELLED = 499

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+(?:\.\d+)?)(ms|s|m|h)"


class ReviewHandler:
    """Every declared webhook by its path, ready to answer."""

    def __init__(self, webhooks: WebhookDeclarations, *, client: Client, metrics: Metrics) -> None:
        self._routes: dict[str, ReviewRoute] = {
            hook.path: AdmissionRoute(hook, client) for hook in webhooks.hooks
        }
        if webhooks.conversions:
            self._routes[CONVERT] = ConversionRoute(webhooks.conversions)
        self._metrics = {path: metrics.webhook(path) for path in self._routes}

    def limit(self, path: str) -> int:
        """How many bytes a body at this path may have; none where no webhook is."""
        return self._routes[path].limit if path in self._routes else 0

    async def review(self, target: str, body: bytes) -> bytes:
        """Answer a review in process; ApiError where the server's answer would not be a review.

        `target` is the path, with the query an API server adds: `/validate-x?timeout=10s`.
        """
        reply = await self.answer(target, body)
        if reply.status != 200:
            raise from_reply(reply.status, reply.body, f"POST {target}")
        return reply.body

    async def answer(self, target: str, body: bytes, content_type: str = JSON) -> ApiResponse:
        """Answer one POST; `target` is its path and query."""
        path, _, query = target.partition("?")
        if path not in self._routes:
            return status_response(404, "NotFound", f"no webhook is served at {path}")
        metrics, since, code = self._metrics[path], monotonic(), CANCELLED
        metrics.started()
        try:
            reply, code = await _answer(self._routes[path], query, body, content_type)
        finally:
            metrics.answered(code, monotonic() - since)
        return reply


def status_response(code: int, reason: str, message: str) -> ApiResponse:
    """An answer that is not a review: a Status document, which an API server shows to its user."""
    status = {
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "message": message, "reason": reason, "code": code,
    }  # fmt: skip
    return _json(code, encode(status))


async def _answer(
    route: ReviewRoute, query: str, body: bytes, content_type: str
) -> tuple[ApiResponse, int]:
    """The answer, and the code it is counted by."""
    try:
        _check(route, body, content_type)
        answer, code = await route.answer(body, review_timeout(query))
    except WebhookFailure as failed:
        return status_response(failed.code, failed.reason, failed.message), failed.code
    return _json(200, answer), code


def _check(route: ReviewRoute, body: bytes, content_type: str) -> None:
    if content_type.partition(";")[0].strip().lower() != JSON:
        raise WebhookFailure(415, "UnsupportedMediaType", f"a review must be {JSON}")
    if len(body) > route.limit:
        raise WebhookFailure(
            413, "RequestEntityTooLarge", f"a review here has {route.limit} bytes at most"
        )


def review_timeout(query: str) -> float | None:
    """The seconds an API server will wait, as it says in the query; None if it does not."""
    text = parse_qs(query).get("timeout", [""])[0]
    if not re.fullmatch(f"(?:{_PART})+", text):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text)) or None


def _json(code: int, body: bytes) -> ApiResponse:
    return ApiResponse(code, body, {"content-type": JSON})
