"""What the answer to a JoinNetwork means: pure, from status code, text and trailing metadata.

A peer reports every failure of its own as UNKNOWN with nested text; only trouble between the
controller and the joiner has a code of its own. Our peers add the key `klight-reason`. A text
that is not known blames no peer: the stack stays as it is, and the join is tried again later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

OK = "OK"


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended: the name of gRPC's status code, its text, and the peer's own reason."""

    code: str
    text: str = ""
    reason: str = ""


NO_ANSWER = Answer("")

Contents = tuple[bytes, ...]
"""A digest of everything that clients wrote to a peer, newest first."""


class PeerHealth(Enum):
    """What our own look at a peer found."""

    SERVING = "serving"
    FAILING = "serving, though its last write failed"
    NOT_SERVING = "not serving"
    """It answers that it does not serve: it starts, or stops."""
    REFUSED = "not listening"
    """Nothing listens there: proof enough that a peer is dead."""
    SILENT = "not answering in time"
    FOREIGN = "not a lightpeer"

    @property
    def serves(self) -> bool:
        """Whether a peer answers, and takes newcomers."""
        return self in (PeerHealth.SERVING, PeerHealth.FAILING)


class JoinResult(Enum):
    """Who or what a failed join is about."""

    JOINED = "joined"
    JOINER_DOWN = "joiner-down"
    """The joiner did not answer."""
    UNSETTLED = "unsettled"
    """No answer in time: the join may still be under way."""
    NOT_A_PEER = "not-a-lightpeer"
    """Something else listens at the joiner's port."""
    CONTACT_AWAY = "contact-unreachable"
    """The joiner could not reach the contact, or lost it half way."""
    CONTACT_BAD = "contact-bad"
    """The contact's address or answers make no sense."""
    REFUSED = "refused"
    """The contact lives, and its network did not take the newcomer."""
    TOO_LARGE = "too-large"
    """The chain has a block that does not fit into a message."""


_REASONS = {
    "contact-unreachable": JoinResult.CONTACT_AWAY,
    "stream-broken": JoinResult.CONTACT_AWAY,
    "parent-mismatch": JoinResult.REFUSED,
    "invalid": JoinResult.CONTACT_BAD,
}
_CODES = {
    OK: JoinResult.JOINED,
    "UNAVAILABLE": JoinResult.JOINER_DOWN,
    "DEADLINE_EXCEEDED": JoinResult.UNSETTLED,
    "CANCELLED": JoinResult.UNSETTLED,
    "UNIMPLEMENTED": JoinResult.NOT_A_PEER,
    "RESOURCE_EXHAUSTED": JoinResult.TOO_LARGE,
}
# The first that is found counts; the outer words stand before the inner ones.
_TEXTS = (
    (re.compile("code = Unimplemented", re.I), JoinResult.CONTACT_BAD),
    (re.compile("failed to connect to grpc server", re.I), JoinResult.CONTACT_BAD),
    (re.compile("no network update blocks found", re.I), JoinResult.CONTACT_BAD),
    (re.compile("larger than max|ResourceExhausted", re.I), JoinResult.TOO_LARGE),
    (re.compile("new block notifications|links to invalid parent", re.I), JoinResult.REFUSED),
    (
        re.compile("(connect new peer|block stream).*Unavailable", re.I | re.S),
        JoinResult.CONTACT_AWAY,
    ),
)


def join_result(answer: Answer) -> JoinResult:
    """What an answer means."""
    if answer.code in _CODES:
        return _CODES[answer.code]
    if answer.reason in _REASONS:
        return _REASONS[answer.reason]
    for pattern, meaning in _TEXTS:
        if pattern.search(answer.text):
            return meaning
    return JoinResult.REFUSED
