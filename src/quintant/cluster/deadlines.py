"""The `timeout` of a request: it has to be a duration as Go writes them, such as 1m30s.

Nothing here takes long enough for the limit itself to matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from quintant.cluster.golang import quoted
from quintant.cluster.problems import bad_request

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_NUMBER}(?:ns|us|µs|μs|ms|s|m|h))+)")
_UNITLESS = re.compile(rf"[-+]?(?:{_NUMBER}(?:ns|us|µs|μs|ms|s|m|h))*{_NUMBER}")


def check_timeout(query: Mapping[str, str]) -> None:
    """Refuse a timeout that is no duration."""
    text = query.get("timeout", "")
    if not text or _DURATION.fullmatch(text):
        return
    why = "missing unit in duration" if _UNITLESS.fullmatch(text) else "invalid duration"
    said = f"time: {why} {quoted(text)}"
    raise bad_request(f"invalid timeout specified in the request URL - {said}")
