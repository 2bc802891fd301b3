from __future__ import annotations

import pytest

from quintant.agents.relay.visitor.exchange import BAD, ENDED, LATE
from quintant.agents.relay.visitor.forwarder import may_retry
from quintant.agents.relay.visitor.upload import KEPT_BYTES, Upload
from quintant.http.connection import Disconnected
from quintant.wire.portal import Fault


class Body(Upload):
    """A body of which so much was sent."""

    def __init__(self, sent: int) -> None:
        self._size, self.sent = sent, sent > 0
        self.error = None


NEVER_REACHED = (Fault.REFUSED, Fault.CONNECT_TIMEOUT, Fault.DRAINING)
WHO_KNOWS = (0, ENDED, Fault.CANCEL)
HOPELESS = (Fault.DNS, Fault.TLS, Fault.LIMIT, Fault.PROTOCOL, BAD, LATE)


@pytest.mark.parametrize("code", NEVER_REACHED)
def test_what_never_reached_the_service_is_tried_again(code: int) -> None:
    assert may_retry(code, idempotent=False, upload=None)
    assert may_retry(code, idempotent=False, upload=Body(0))
    assert not may_retry(code, idempotent=False, upload=Body(1))
    assert may_retry(code, idempotent=True, upload=Body(KEPT_BYTES))
    assert not may_retry(code, idempotent=True, upload=Body(KEPT_BYTES + 1))


@pytest.mark.parametrize("code", WHO_KNOWS)
def test_what_may_have_reached_it_is_tried_again_only_if_that_is_harmless(code: int) -> None:
    assert may_retry(code, idempotent=True, upload=None)
    assert not may_retry(code, idempotent=False, upload=None)
    assert not may_retry(code, idempotent=True, upload=Body(KEPT_BYTES + 1))


@pytest.mark.parametrize("code", HOPELESS)
def test_what_would_fail_again_is_not_tried_again(code: int) -> None:
    assert not may_retry(code, idempotent=True, upload=None)


def test_nothing_is_tried_again_for_a_visitor_who_left() -> None:
    body = Body(0)
    body.error = Disconnected()
    assert not may_retry(Fault.REFUSED, idempotent=True, upload=body)
