"""What happened in a simulation, line by line, and a digest of everything that was written."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from quintant.cluster.apiserver.storage.history import Change

DAY, HOUR, MINUTE = 86_400, 3600, 60


class Timeline:
    """Lines with their moments; the digest covers them and all changes of the store."""

    def __init__(self, now: Callable[[], float], show: Callable[[str], None]) -> None:
        """`now` is the virtual time; `show` is given every line as it comes."""
        self.changes: int = 0
        """How many changes the store had."""
        self._now, self._show = now, show
        self._hash = sha256()

    def tell(self, text: str) -> None:
        """Something happened."""
        line = f"{moment(self._now())}  {text}"
        self._hash.update(line.encode())
        self._show(line)

    def note(self, table: str, change: Change) -> None:
        """Something was written."""
        self.changes += 1
        self._hash.update(f"{change.rv} {table} {change.key}\n".encode())
        if change.cur is not None:
            self._hash.update(change.cur.raw)

    @property
    def digest(self) -> str:
        """The same for the same run, in any process."""
        return self._hash.hexdigest()[:16]


def moment(seconds: float) -> str:
    """A moment as it is shown, and as `--until` takes it: 2d04:05:06."""
    whole = int(seconds)
    clock = f"{whole % DAY // HOUR:02}:{whole % HOUR // MINUTE:02}:{whole % MINUTE:02}"
    return f"{whole // DAY}d{clock}"


def parse_moment(text: str) -> float:
    """The seconds of a moment; ValueError if it is none."""
    days, _, clock = text.partition("d")
    hours, minutes, seconds = map(int, clock.split(":"))
    found = int(days) * DAY + hours * HOUR + minutes * MINUTE + seconds
    if min(int(days), hours, minutes, seconds) < 0:
        raise ValueError(text)
    return float(found)
