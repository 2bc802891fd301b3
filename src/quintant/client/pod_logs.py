"""What a container printed: the lines of a pod's log, as they come.

A log is text without promises: lines of any length, bytes of any encoding, a last line without its
end. What cannot be decoded is replaced, and nothing is left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from quintant.client.rest import Rest, object_path
from quintant.client.transport import ApiRequest
from quintant.core.object import Object
from quintant.core.resource import resource_of


async def read_log_lines(rest: Rest, pod: Object, query: Mapping[str, str]) -> AsyncIterator[str]:
    """The lines of a log; `query` is that of pods/log."""
    path = object_path(resource_of(type(pod)), pod.key, "log")
    # The text is text/plain, but an error is a Status.
    call = ApiRequest("GET", path, query, {"accept": "application/json, */*"})
    rest_of_line = b""
    async with rest.stream(call) as chunks:
        async for chunk in chunks:
            *lines, rest_of_line = (rest_of_line + chunk).split(b"\n")
            for line in lines:
                yield line.decode(errors="replace")
    if rest_of_line:
        yield rest_of_line.decode(errors="replace")
