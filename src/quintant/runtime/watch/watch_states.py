"""What a watch does next: a state machine without I/O.

    STREAMING (start) ──done──> WATCHING <──done── LISTING
        │                                             ^
        └── refused, or no end within the time ───────┘

    WATCHING   ended, idle, no connection, throttled: the same watch again
               expired, outdated: the state anew, not older than the version last seen
    the others expired: the state anew, whatever its version
    expired    at once, for the server lives; with a pause if it goes on

STREAMING asks for the initial state inside the watch itself (watch-list); a server that cannot is
asked by pages from then on (LISTING). Who is WATCHING has a version to go on from. Nothing that
comes over the wire ends the machine.
"""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

# Server errors in a row are retried as the same watch for this long, then the state is read anew.
PATIENCE_SECONDS = 60.0
# Expired versions within PATIENCE_SECONDS that are answered at once: one is too old for the watch,
# another for a server that lost its newest versions. A row of them is a server in trouble.
EXPIRED_AT_ONCE = 2


class WatchPhase(Enum):
    """Where the watch is."""

    STREAMING = auto()
    """Reading the initial state as watch events, up to the bookmark that ends them."""
    LISTING = auto()
    """Reading the initial state page by page."""
    WATCHING = auto()
    """Following changes from a known version."""


class WatchOutcome(Enum):
    """How the work of a phase ended."""

    DONE = "done"
    """The initial state is complete."""
    ENDED = "timeout"
    """The server closed the stream as it announced."""
    SHORT = "eof"
    """The stream ended before it was of use: something in between is broken."""
    IDLE = "idle"
    """Nothing came for longer than the idle limit: the connection is dead."""
    OUTDATED = "outdated"
    """The server is ahead of the stream for long, which brought neither changes nor a bookmark."""
    EXPIRED = "410"
    """The version is no longer in the server's history, or ahead of it."""
    REFUSED = "refused"
    """The server does not know watch-list."""
    UNREACHABLE = "connect"
    """No connection, or it broke."""
    THROTTLED = "429"
    """The server asks for patience."""
    FORBIDDEN = "403"
    """The role lacks list or watch."""
    MISSING = "404"
    """The kind is not installed."""
    FAILED = "error"
    """Anything else: a server error, garbage on the wire, bad credentials."""


class WatchPause(Enum):
    """How long to wait before going on."""

    NONE = auto()
    RECONNECT = auto()
    """Short: nobody is there who could be spared."""
    BACKOFF = auto()
    LONGEST = auto()


class WatchPosition(Struct, frozen=True):
    """All that a watch remembers between two connections."""

    phase: WatchPhase = WatchPhase.STREAMING
    version: str = ""
    """The resource version to go on from; empty asks for the newest state."""
    streaming: bool = True
    """Whether the server still counts as knowing watch-list."""
    failing_since: float | None = None
    """When the present row of server errors began."""
    expired: int = 0
    """How many versions have expired in a row, none long after the one before."""
    expired_at: float = 0.0
    """When the last of them did."""


class WatchStep(Struct, frozen=True):
    """Where to go on, and after what pause."""

    position: WatchPosition
    pause: WatchPause = WatchPause.NONE


def next_step(at: WatchPosition, outcome: WatchOutcome, now: float) -> WatchStep:
    """Decide what follows `outcome`. Every pair of phase and outcome has an answer."""
    calm = replace(at, failing_since=None)
    match outcome:
        case WatchOutcome.DONE:
            return WatchStep(replace(calm, phase=WatchPhase.WATCHING))
        case WatchOutcome.REFUSED:
            return WatchStep(_anew(replace(calm, streaming=False)))
        case WatchOutcome.EXPIRED:
            return _expired(calm, now)
        case WatchOutcome.ENDED if at.phase is WatchPhase.STREAMING:
            # The announced time passed without the closing bookmark.
            return WatchStep(_anew(replace(calm, streaming=False)))
        case WatchOutcome.ENDED | WatchOutcome.IDLE:
            return WatchStep(calm)
        case WatchOutcome.OUTDATED:
            return WatchStep(_anew(calm))
        case WatchOutcome.FORBIDDEN:
            return WatchStep(calm, WatchPause.LONGEST)
        case WatchOutcome.MISSING:
            return WatchStep(_anew(replace(calm, version="")), WatchPause.BACKOFF)
        case WatchOutcome.UNREACHABLE:
            return WatchStep(calm, WatchPause.RECONNECT)
        case WatchOutcome.THROTTLED | WatchOutcome.SHORT:
            return WatchStep(calm, WatchPause.BACKOFF)
        case WatchOutcome.FAILED:
            return WatchStep(_patient(at, now), WatchPause.BACKOFF)


def read_anew(at: WatchPosition) -> WatchPosition:
    """Where to go on so that the whole state comes, by a consistent read."""
    return replace(_anew(at), version="")


def _anew(at: WatchPosition) -> WatchPosition:
    return replace(at, phase=WatchPhase.STREAMING if at.streaming else WatchPhase.LISTING)


def _expired(at: WatchPosition, now: float) -> WatchStep:
    row = at.expired + 1 if now - at.expired_at < PATIENCE_SECONDS else 1
    version = at.version if at.phase is WatchPhase.WATCHING else ""
    anew = _anew(replace(at, version=version, expired=row, expired_at=now))
    return WatchStep(anew, WatchPause.NONE if row <= EXPIRED_AT_ONCE else WatchPause.BACKOFF)


def _patient(at: WatchPosition, now: float) -> WatchPosition:
    since = now if at.failing_since is None else at.failing_since
    if now - since < PATIENCE_SECONDS:
        return replace(at, failing_since=since)
    # It may be the version that the server stumbles over: first the state anew, then any state.
    version = at.version if at.phase is WatchPhase.WATCHING else ""
    return replace(_anew(at), version=version, failing_since=now)
