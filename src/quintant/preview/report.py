"""A preview for people, and for programs."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from quintant.core.yaml.dump import to_yaml
from quintant.preview.live_reader import JsonObject
from quintant.preview.object_diffs import ObjectAction, ObjectDiff
from quintant.preview.run import Preview

CONTEXT_LINES = 3
WORDS: Final = {
    ObjectAction.DELETE: "would be deleted",
    ObjectAction.REPLACE: "would be deleted and made again",
    ObjectAction.CREATE: "would be created",
    ObjectAction.UPDATE: "would change",
}


def as_text(preview: Preview) -> Iterator[str]:
    """Lines: what becomes of each object, deletions first, then events, calls, findings, counts."""
    for change in preview.changes:
        yield f"{title(change)} {WORDS[change.action]}"
        if change.action is not ObjectAction.DELETE:
            yield from difference(change)
    for event in preview.events:
        yield f"event {event.type} {event.reason} about {event.regarding}: {event.note}"
    yield from (f"call outside: {call}" for call in preview.calls)
    for write in preview.refused:
        yield f"refused: {write.verb} {write.target}: {write.message or write.status}"
    for finding in preview.findings:
        yield f"not judged: {finding}"
    yield summary(preview)


def as_json(preview: Preview) -> bytes:
    """Everything, as one document."""
    document: dict[str, Any] = {
        "changes": [
            {
                "change": each.action.value,
                **msgspec.structs.asdict(each.id),
                "before": each.before,
                "after": each.after,
            }
            for each in preview.changes
        ],
        "events": preview.events,
        "calls": preview.calls,
        "refused": preview.refused,
        "findings": preview.findings,
        "writes": preview.writes,
    }
    return msgspec.json.format(msgspec.json.encode(document))


def title(change: ObjectDiff) -> str:
    """What an object is called."""
    obj = change.after or change.before or {}
    prefix = f"{change.id.namespace}/" if change.id.namespace else ""
    return f"{obj.get('kind', change.id.plural)} {prefix}{change.id.name}"


def difference(change: ObjectDiff) -> Iterator[str]:
    """The lines of an object that are otherwise, each with two blanks before it."""
    before, after = _lines(change.before), _lines(change.after)
    lines = difflib.unified_diff(before, after, "live", "preview", "", "", CONTEXT_LINES, "")
    yield from (f"  {line}" for line in lines)


def _lines(obj: JsonObject | None) -> list[str]:
    return to_yaml([obj]).splitlines() if obj is not None else []


def summary(preview: Preview) -> str:
    """How much there is of everything, in one line."""
    counts = Counter(each.action for each in preview.changes)
    parts = [f"{counts[change]} {change.value}" for change in ObjectAction if counts[change]]
    findings = len(preview.findings) + len(preview.refused)
    changes = ", ".join(parts) or "nothing changes"
    calls = f"{len(preview.calls)} calls outside, " if preview.calls else ""
    return f"{changes}; {len(preview.events)} events, {calls}{findings} findings"
