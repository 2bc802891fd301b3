"""One rule of a `FaultTransport`: what it does, to which requests, how often still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from types import TracebackType
from typing import Self

import msgspec

from quintant.client.transport import JSON, ApiRequest, ApiResponse
from quintant.testing.faults.match import RequestMatch

_REASONS = {
    400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict",
    410: "Expired", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError",
    503: "ServiceUnavailable", 504: "Timeout",
}  # fmt: skip


class Effect(Enum):
    """What a rule does."""

    DELAY = auto()  # the request waits before it is sent
    REFUSE = auto()  # it is not sent
    ANSWER = auto()  # it is not sent, and answered by us
    LOSE = auto()  # it is sent, and its answer is thrown away
    STALL = auto()  # nothing comes back, as long as the rule stands
    LAG = auto()  # what a stream says comes later
    TRUNCATE = auto()  # a stream breaks in the middle of a line


@dataclass(slots=True, eq=False)
class FaultRule:
    """A rule that was made: `hits` counts what it struck, `lift` (or the end of a `with`) ends it.

    The first `skip` matching requests are spared; after `times` hits the rule is spent.
    """

    effect: Effect
    when: RequestMatch
    times: int | None = None
    skip: int = 0
    seconds: float = 0.0
    reply: ApiResponse | None = None
    late: bool = False
    hits: int = 0
    lifted: Callable[[FaultRule], None] = field(default=lambda fault: None, repr=False)

    @property
    def spent(self) -> bool:
        """Whether the rule has struck as often as it was meant to."""
        return self.times is not None and self.hits >= self.times

    def covers(self, call: ApiRequest) -> bool:
        """Whether the rule is for this request, and not spent."""
        return not self.spent and self.when(call)

    def strike(self, call: ApiRequest) -> bool:
        """Whether the rule strikes this request; counts it if so."""
        if not self.covers(call):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.hits += 1
        return True

    def lift(self) -> None:
        """End the rule; what it held continues."""
        self.lifted(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.lift()


def status_answer(code: int, message: str, retry_after: int | None = None) -> ApiResponse:
    """The answer of a server that refuses, with a Status document."""
    headers = {"content-type": JSON}
    if retry_after is not None:
        headers["retry-after"] = str(retry_after)
    document = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS.get(code, ""),
        "details": {} if retry_after is None else {"retryAfterSeconds": retry_after},
        "code": code,
    }
    return ApiResponse(code, msgspec.json.encode(document), headers)
