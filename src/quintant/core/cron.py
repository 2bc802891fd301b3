"""Schedules: five fields of a crontab, or a word for them, and the next time they mean.

    minute hour day-of-month month day-of-week        30 6-16/4 * * mon-fri
    @yearly @monthly @weekly @daily @hourly           @every 90m

Where both days are restricted, one of them is enough. Times are looked for in the schedule's zone:
an hour that a change of clocks leaves out does not come, and one that it repeats comes twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

from msgspec import Struct

YEARS = 5
"""A schedule that means no time within so many years means none, such as the 30th of February."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[int, int, Mapping[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = re.compile(r"@every ((?:\d+(?:\.\d+)?[hms])+)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
MOST_SECONDS = 2**63 / 1e9
"""Of an interval, as Go has it: 292 years in nanoseconds."""
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)


class Schedule(Struct, frozen=True):
    """When something happens, again and again."""

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    either: bool = False
    """Whether one of the two kinds of day is enough."""
    zone: tzinfo = UTC
    every: timedelta | None = None
    """A plain interval instead of everything else."""

    def after(self, moment: datetime) -> datetime | None:
        """The first time after a moment; None if there is none in the next years."""
        start = moment.astimezone(UTC).replace(microsecond=0)
        if self.every is not None:
            return start + self.every
        now = start.replace(second=0) + _MINUTE
        end = start.replace(year=start.year + YEARS, day=1)
        while now <= end:
            local = now.astimezone(self.zone)
            if local.month not in self.months:
                now = _midnight(_next_month(local.date()), self.zone, now)
            elif not self._on(local):
                now = _midnight(local.date() + timedelta(days=1), self.zone, now)
            elif local.hour not in self.hours:
                now += _HOUR - timedelta(minutes=local.minute)
            elif local.minute not in self.minutes:
                now += _MINUTE
            else:
                return now
        return None

    def _on(self, local: datetime) -> bool:
        month, week = local.day in self.days, local.isoweekday() % 7 in self.weekdays
        return month or week if self.either else month and week


@lru_cache(1024)
def parse(text: str, zone: str = "") -> Schedule:
    """Understand a schedule; ValueError says what is wrong with it or with its time zone."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        head, _, text = text.partition(" ")
        timezone = _own_zone(head.partition("=")[2])
    else:
        timezone = locate(zone)
    text = text.strip()
    if text.startswith("@every "):
        return Schedule(every=_interval(text))
    if text.startswith("@") and text not in _WORDS:
        raise ValueError(f"unrecognized descriptor: {text}")
    words = _WORDS.get(text, text).split()
    if len(words) != len(_FIELDS):
        raise ValueError(
            f"expected exactly {len(_FIELDS)} fields, found {len(words)}: [{' '.join(words)}]"
        )
    minutes, hours, days, months, weekdays = (
        _field(word, *bounds) for word, bounds in zip(words, _FIELDS, strict=True)
    )
    either = not (_open(words[2]) or _open(words[4]))
    return Schedule(minutes, hours, days, months, weekdays, either=either, zone=timezone)


def _own_zone(name: str) -> tzinfo:
    """The zone that a schedule begins with."""
    try:
        return locate(name)
    except ValueError as error:
        raise ValueError(f"provided bad location {name}: {error}") from None


def locate(name: str) -> tzinfo:
    """A time zone by its name; ValueError if it is unknown."""
    if not name:
        return UTC
    # Loaded for the first schedule that is of some place.
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name}") from None


def _field(word: str, low: int, high: int, names: Mapping[str, int]) -> frozenset[int]:
    return frozenset(
        number
        for part in filter(None, word.split(","))
        for number in _range(part, low, high, names)
    )


def _range(part: str, low: int, high: int, names: Mapping[str, int]) -> range:
    span, slash, step = part.partition("/")
    first, dash, last = span.partition("-")
    if "-" in last:
        raise ValueError(f"too many hyphens: {part}")
    if "/" in step:
        raise ValueError(f"too many slashes: {part}")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, names)
        end = _number(last, names) if dash else high if slash else start
    stride = _number(step, {}) if slash else 1
    if start < low:
        raise ValueError(f"beginning of range ({start}) below minimum ({low}): {part}")
    if end > high:
        raise ValueError(f"end of range ({end}) above maximum ({high}): {part}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
    if stride == 0:
        raise ValueError(f"step of range should be a positive number: {part}")
    return range(start, end + 1, stride)


def _number(word: str, names: Mapping[str, int]) -> int:
    if word.lower() in names:
        return names[word.lower()]
    if not (word.isascii() and word.isdecimal()):
        why = f'strconv.Atoi: parsing "{word}": invalid syntax'
        raise ValueError(f"failed to parse int from {word}: {why}")
    return int(word)


def _open(word: str) -> bool:
    """Whether a field of days does not restrict anything."""
    return any(part.removesuffix("/1") in ("*", "?") for part in word.split(","))


def _interval(text: str) -> timedelta:
    found = _EVERY.fullmatch(text)
    seconds = _seconds(found[1]) if found else 0.0
    if found is None or seconds > MOST_SECONDS:
        span = text.partition(" ")[2]
        raise ValueError(f'failed to parse duration {text}: time: invalid duration "{span}"')
    return timedelta(seconds=max(1, int(seconds)))


def _seconds(text: str) -> float:
    parts = re.findall(r"([\d.]+)([hms])", text)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _next_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _midnight(day: date, zone: tzinfo, now: datetime) -> datetime:
    """When a day begins, and in any case later than now."""
    begins = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
    return max(begins, now + _MINUTE)
