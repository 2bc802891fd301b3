"""Who may read what a process serves: the API server knows, and is asked as its own handlers ask.

    Bearer token ──TokenReview──> user ──SubjectAccessReview: get of the path──> served, or 403
         │ none, or nobody's ──> 401                │ no answer ──> 503, and nothing is served

What it said is kept for a moment, by the hash of the token, for scrapes come again and again. A
flood of tokens that mean nothing costs the API server no more than a few questions at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from http import HTTPStatus
from typing import Final

from msgspec import Struct

from quintant.api.kubernetes.authentication_v1 import TokenReview, TokenReviewSpec, UserInfo
from quintant.api.kubernetes.authorization_v1 import (
    NonResourceAttributes,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from quintant.client.rest import Rest
from quintant.core import codec
from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.http.routes import PathHandler
from quintant.runtime.observe.logs import get_logger

REVIEW_SECONDS = 10.0
"""For both questions together; a scrape has ten seconds, as a rule."""
ALLOWED_SECONDS = 60.0
"""How long a yes is good: so long at most a right that was taken away is still used."""
REFUSED_SECONDS = 10.0
"""How long a no is: whoever has been given the right just now need not wait."""
MOST_VERDICTS = 1_000
"""Kept at once; beyond that the oldest are asked for again."""
MOST_QUESTIONS = 8
"""Reviews under way at once; who comes then is to come again."""
LONGEST_TOKEN = 16_384
"""Characters of a token; those of service accounts have one or two thousand."""
_SCHEME = "bearer"

log: Final = get_logger()


class AccessVerdict(Struct, frozen=True):
    """What a request gets: OK to be served, or the status and the text of a refusal."""

    status: HTTPStatus = HTTPStatus.OK
    text: str = ""

    def response(self) -> Response:
        """The refusal."""
        asks = self.status is HTTPStatus.UNAUTHORIZED
        headers = {"www-authenticate": "Bearer"} if asks else {}
        return text_response(self.text, self.status.value, **headers)


SERVED = AccessVerdict()
_NOBODY = AccessVerdict(HTTPStatus.UNAUTHORIZED, "a bearer token of this cluster is needed")
_BUSY = AccessVerdict(HTTPStatus.SERVICE_UNAVAILABLE, "too many are being looked up; come again")
_SILENT = AccessVerdict(
    HTTPStatus.SERVICE_UNAVAILABLE, "the API server does not say who may read this"
)


class EndpointAccess:
    """Asks the API server who may read which path."""

    def __init__(self, rest: Rest, now: Callable[[], float] = monotonic) -> None:
        self._rest, self._now = rest, now
        self._verdicts: dict[tuple[bytes, str], tuple[float, AccessVerdict]] = {}
        self._asking: dict[tuple[bytes, str], asyncio.Future[AccessVerdict]] = {}

    async def judge(self, authorization: str, path: str) -> AccessVerdict:
        """What a request with this Authorization field may do at a path."""
        scheme, _, token = authorization.strip().partition(" ")
        token = token.strip()
        if scheme.lower() != _SCHEME or not token or len(token) > LONGEST_TOKEN:
            return _NOBODY
        if not token.isascii() or not token.isprintable():
            return _NOBODY
        key = sha256(token.encode()).digest(), path
        known = self._verdicts.get(key)
        if known is not None and self._now() < known[0]:
            return known[1]
        if key in self._asking:
            return await asyncio.shield(self._asking[key])
        if len(self._asking) >= MOST_QUESTIONS:
            return _BUSY
        return await self._ask_server(key, token)

    async def _ask_server(self, key: tuple[bytes, str], token: str) -> AccessVerdict:
        asking = self._asking[key] = asyncio.get_running_loop().create_future()
        verdict = _SILENT
        try:
            async with asyncio.timeout(REVIEW_SECONDS):
                verdict = await self._review(token, key[1])
            self._keep(key, verdict)
        except (QuintantError, TimeoutError, *codec.BROKEN) as error:
            log.warning("cannot tell who may read", path=key[1], why=_why(error))
        finally:
            del self._asking[key]
            asking.set_result(verdict)
        return verdict

    async def _review(self, token: str, path: str) -> AccessVerdict:
        review = TokenReview(spec=TokenReviewSpec(token=token))
        found = codec.decode(TokenReview, await self._rest.create(review, {})).status
        if not found.authenticated or not found.user.username:
            return _NOBODY
        access = _access(found.user, path)
        allowed = codec.decode(SubjectAccessReview, await self._rest.create(access, {})).status
        if allowed.allowed and not allowed.denied:
            return SERVED
        text = f"user {found.user.username!r} may not get {path}"
        return AccessVerdict(HTTPStatus.FORBIDDEN, text)

    def _keep(self, key: tuple[bytes, str], verdict: AccessVerdict) -> None:
        seconds = ALLOWED_SECONDS if verdict is SERVED else REFUSED_SECONDS
        self._verdicts.pop(key, None)
        self._verdicts[key] = self._now() + seconds, verdict
        if len(self._verdicts) > MOST_VERDICTS:
            del self._verdicts[next(iter(self._verdicts))]


def guarded(handler: PathHandler, word: str, access: EndpointAccess) -> PathHandler:
    """A handler that serves only who may `get` its path; what is below it counts as the same."""

    async def handle(request: Request, below: str) -> Response:
        verdict = await access.judge(request.field(b"authorization"), f"/{word}")
        if verdict is not SERVED:
            return verdict.response()
        found = await handler(request, below)
        assert isinstance(found, Response), "what is shown here is no stream"
        return found

    return handle


def _access(user: UserInfo, path: str) -> SubjectAccessReview:
    return SubjectAccessReview(
        spec=SubjectAccessReviewSpec(
            user=user.username,
            groups=user.groups,
            uid=user.uid,
            extra=user.extra,
            non_resource_attributes=NonResourceAttributes(path=path, verb="get"),
        )
    )


def _why(error: BaseException) -> str:
    return str(error) or f"no answer within {REVIEW_SECONDS:g} s"
