"""What follows a reconcile that failed: the rate limiter's delay, or what a retry policy says.

Both are objects that a program may exchange (`.rate_limiter`, `.retry_policy`). What they raise or
return without sense is reported, and the key waits as it would without them: they are asked inside
the worker loop, which nothing of a user's may end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeVar

from quintant.client.token_bucket import TokenBucket
from quintant.core.errors import Terminal
from quintant.core.object import Request
from quintant.core.text import one_line
from quintant.runtime.controller.declaration import GiveUp, ReconcileFailure, Retry, RetryPolicy
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.workqueue.rate_limiter import (
    ExponentialRateLimiter,
    RateLimiter,
)

T = TypeVar("T")

log: Final = get_logger()


class Retries:
    """Counts the failures of the keys of one controller, and says how long each waits."""

    def __init__(
        self,
        controller: str,
        retry: Retry,
        policy: RetryPolicy | None,
        limiter: Callable[[], RateLimiter[Request]] | None,
    ) -> None:
        self._controller, self._policy = controller, policy
        self.bucket: TokenBucket | None = (
            TokenBucket(retry.rate, retry.burst) if retry.rate is not None else None
        )
        """What the retries of all keys together wait for."""
        self._own: ExponentialRateLimiter[Request] = ExponentialRateLimiter(
            first=retry.first, cap=retry.cap, bucket=self.bucket
        )
        self._given = limiter() if limiter is not None else None
        self.forget: Callable[[Request], None] = self._own.forget
        """Start a key over: it succeeded, is gone, or will not be retried."""
        if self._given is not None:
            self.forget = self._forget

    def failures(self, key: Request) -> int:
        """How many times in a row a key has failed."""
        return self._own.failures(key)

    def delay(self, key: Request) -> float:
        """Count one more failure of a key, and say how many seconds it waits."""
        own, given = self._own.when(key), self._given
        if given is None:
            return own
        return self._checked("rate limiter", lambda: given.when(key), _is_delay, own)

    def decide(self, key: Request, error: Exception) -> float | GiveUp | None:
        """What the policy says of a failure that is not counted yet; None: nothing."""
        policy = self._policy
        if policy is None:
            return None
        failure = ReconcileFailure(key, error, self.failures(key) + 1)
        return self._checked("retry policy", lambda: policy(failure), _is_decision, None)

    def _forget(self, key: Request) -> None:
        given = self._given
        self._own.forget(key)
        if given is not None:
            self._checked("rate limiter", lambda: given.forget(key), lambda _: True, None)

    def _checked(
        self, what: str, ask: Callable[[], T], fits: Callable[[T], bool], otherwise: T
    ) -> T:
        try:
            answer = ask()
            if fits(answer):
                return answer
            text = one_line(str(answer))
        except Exception:
            # The worker loop owns recovery: what a user's object raises must not end it.
            log.exception(f"a {what} failed", controller=self._controller)
            return otherwise
        log.error(f"a {what} made no sense", controller=self._controller, answer=text)
        return otherwise


def gave_up(error: Exception, why: str, failures: int, decision: GiveUp) -> Terminal:
    """The error of a key that is not tried again."""
    terminal = Terminal(f"{why}; given up at failure {failures}", reason=decision.reason)
    terminal.__cause__ = error
    return terminal


def _is_delay(answer: object) -> bool:
    number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return number and math.isfinite(answer) and answer >= 0  # type: ignore[arg-type, operator]


def _is_decision(answer: object) -> bool:
    return answer is None or isinstance(answer, GiveUp) or _is_delay(answer)
