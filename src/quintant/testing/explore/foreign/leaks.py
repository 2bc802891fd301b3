"""What a program must never do, whatever happens: panic, or print what is in a Secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.storage.revision_log import Snapshot
from quintant.testing.explore.simulation.objects import ObjectView

LEAST_SECRET = 8
"""Characters: what is shorter may be in any text."""
SECRETS, EVENTS = "secrets", "events.events.k8s.io"
_PANIC = re.compile(
    r"^(panic: |fatal error: |Fatal Python error: |thread '.*' panicked at |\[signal SIG)"
    r"|Observed a panic|Segmentation fault"
)


def panic_in(output: Sequence[str]) -> list[str]:
    """The first line that says that a program gave up by itself."""
    found = next((line for line in output if _PANIC.search(line)), "")
    return [f"the program crashed by itself: {found[:200]}"] if found else []


def leaked_secrets(view: ObjectView, base: Snapshot, output: Sequence[str]) -> Iterator[str]:
    """Which Secrets of a run are in what a program printed, or in Events; never what is in them."""
    text = "\n".join(output)
    events = [entry.raw for name in (EVENTS, "events") for _, entry in view.entries(name)]
    for kind, key, entry in view.since(base):
        if kind.table != SECRETS or entry is None:
            continue
        for field, value in (stored_json.unpack(kind, entry).get("data") or {}).items():
            secret = _plain(value)
            if len(secret) < LEAST_SECRET or _is_open(base, secret):
                continue
            if secret in text or value in text:
                yield f"{field} of secret {key} is in what the program prints"
            if any(secret.encode() in raw for raw in events):
                yield f"{field} of secret {key} is in an Event"


def _is_open(base: Snapshot, word: str) -> bool:
    """Whether a text stood openly in the cluster before the program ran, such as its own name."""
    return any(
        word.encode() in entry.raw
        for name, table in base.tables.items()
        if name != SECRETS
        for entry in table.entries.values()
    )


def _plain(value: str) -> str:
    try:
        return base64.b64decode(value).decode()
    except (binascii.Error, ValueError):
        return ""
