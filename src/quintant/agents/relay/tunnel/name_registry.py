"""Who holds which name: sessions of one group share it, and nobody else gets it while they live.

A name belongs to (subject, group). It stays theirs for a lease after their last session, so that
a tunnel that restarts finds its name, and visitors are told "no tunnel" rather than "no such app".
Pure: time and chance are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Generic, Protocol, TypeVar

from quintant.agents.relay.tunnel.tokens import Principal
from quintant.wire.portal import Close

LEASE_SECONDS = 30.0
SESSIONS = 1024
"""Of all groups together."""
GROUP_SESSIONS = 16
"""Of one name."""


class NameHolder(Protocol):
    """A session, as far as choosing one is concerned."""

    @property
    def room(self) -> bool:
        """Whether it takes another visitor."""

    @property
    def load(self) -> int:
        """How many visitors it has."""

    @property
    def live(self) -> bool:
        """Whether it takes visitors at all: connected, and not leaving."""


S = TypeVar("S", bound=NameHolder)


class NameDenied(Exception):
    """A session that may not have the name."""

    def __init__(self, code: Close, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(slots=True)
class NameClaim(Generic[S]):
    """A name that is held."""

    subject: str
    group: str
    sessions: list[S] = field(default_factory=list)
    until: float = 0.0
    """When it is free, once there is no session."""

    def expired(self, now: float) -> bool:
        """Whether nobody holds it any more."""
        return not self.sessions and now >= self.until


class NameRegistry(Generic[S]):
    """Every name that is held."""

    def __init__(self, most: int = SESSIONS, most_of_one: int = GROUP_SESSIONS) -> None:
        self._claims: dict[str, NameClaim[S]] = {}
        self._most, self._most_of_one = most, most_of_one
        self._subjects: dict[str, int] = {}

    def join(self, app: str, group: str, who: Principal, session: S, now: float) -> None:
        """A session takes part in a name; NameDenied if it may not."""
        if not who.may(app):
            raise NameDenied(Close.NOT_ALLOWED, f"the token does not allow the name {app}")
        claim = self._claims.get(app)
        if claim is None or claim.expired(now):
            claim = NameClaim(who.subject, group)
        if (claim.subject, claim.group) != (who.subject, group):
            raise NameDenied(Close.HELD, f"the name {app} is held by another")
        self._check(claim, who)
        self._claims[app] = claim
        claim.sessions.append(session)
        self._subjects[who.subject] = self._subjects.get(who.subject, 0) + 1

    def leave(self, app: str, session: S, now: float) -> None:
        """A session is gone."""
        claim = self._claims[app]
        claim.sessions.remove(session)
        claim.until = now + LEASE_SECONDS
        self._subjects[claim.subject] -= 1

    def known(self, app: str, now: float) -> bool:
        """Whether anybody holds the name."""
        claim = self._claims.get(app)
        if claim is not None and claim.expired(now):
            del self._claims[app]
            return False
        return claim is not None

    def sweep(self, now: float) -> None:
        """Forget the names that nobody holds any more."""
        for app in [app for app, claim in self._claims.items() if claim.expired(now)]:
            del self._claims[app]

    def sessions(self, app: str) -> list[S]:
        """The sessions of a name that take visitors."""
        claim = self._claims.get(app)
        return [each for each in claim.sessions if each.live] if claim else []

    def pick(self, app: str, random: Random, without: frozenset[S] = frozenset()) -> S | None:
        """The less busy of two sessions drawn at random, which is nearly as good as the best."""
        claim = self._claims.get(app)
        sessions = claim.sessions if claim else ()
        able = [each for each in sessions if each.live and each.room and each not in without]
        if len(able) < 2:
            return able[0] if able else None
        one, other = random.sample(able, 2)
        return one if one.load <= other.load else other

    def everybody(self) -> Iterator[S]:
        """Every session."""
        for claim in self._claims.values():
            yield from claim.sessions

    @property
    def groups(self) -> int:
        """How many names have a session."""
        return sum(bool(claim.sessions) for claim in self._claims.values())

    def _check(self, claim: NameClaim[S], who: Principal) -> None:
        if len(claim.sessions) >= self._most_of_one:
            raise NameDenied(Close.LIMIT, f"{self._most_of_one} tunnels have this name already")
        if self._subjects.get(who.subject, 0) >= who.max_sessions:
            raise NameDenied(Close.LIMIT, f"{who.max_sessions} tunnels have this token already")
        if sum(self._subjects.values()) >= self._most:
            raise NameDenied(Close.LIMIT, "the relay is full")
