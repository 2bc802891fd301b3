"""An option that is a span of time: `90s`, `5m`, or a plain number of seconds."""

from __future__ import annotations

import click

from quintant.core.duration import parse_duration


class Duration(click.ParamType[float]):
    """Seconds, at least as many as `least`."""

    name = "duration"

    def __init__(self, least: float = 0.0) -> None:
        self.least = least

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The seconds that a text means."""
        try:
            seconds = value if isinstance(value, float) else _seconds(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not seconds >= self.least:
            self.fail(f"{value} is less than {self.least:g} s", param, ctx)
        return seconds


def _seconds(text: str) -> float:
    return float(text) if text.replace(".", "", 1).isdecimal() else parse_duration(text)
