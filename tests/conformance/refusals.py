"""Objects that make no sense, and what a real server says of each.

refusals.jsonl has a line for each: the API, the resource, what the object has beside a name, the
code of the answer, and what is wrong with it, cut where a grammar would be spelt out. The answers
are those of the pinned release.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from unit.cluster.api import JsonObject, Requests

_DATA = Path(__file__).with_name("refusals.jsonl")
_GRAMMAR = " must consist of"
_TOLD = 160
"""Characters of a complaint that are recorded."""


class Refusal(msgspec.Struct, frozen=True, array_like=True):
    """An object, and why it is refused."""

    api: str
    plural: str
    content: dict[str, Any]
    code: int
    why: list[str]

    async def check(self, client: Requests, collection: str) -> None:
        """See that a server refuses it so."""
        body = {"metadata": {"name": "n"}, **self.content}
        found = await client.create(collection, body, code=self.code, dryRun="All")
        assert _told(found) == self.why, self.content


def refusals() -> dict[tuple[str, str], list[Refusal]]:
    """All of them, by API and resource."""
    rows: dict[tuple[str, str], list[Refusal]] = {}
    for line in _DATA.read_bytes().splitlines():
        row = msgspec.json.decode(line, type=Refusal)
        rows.setdefault((row.api, row.plural), []).append(row)
    return rows


def _told(status: JsonObject) -> list[str]:
    causes = (status.get("details") or {}).get("causes")
    said = [f"{each['field']}: {each['message']}" for each in causes or ()] or [status["message"]]
    return [text.partition(_GRAMMAR)[0][:_TOLD] for text in said]
