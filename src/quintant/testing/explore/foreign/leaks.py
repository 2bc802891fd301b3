"""What a program must never do, whatever happens: panic, or print what is in a Secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import Snapshot
from quintant.testing.explore.simulation.objects import ObjectView

LEAST_SECRET = 8
"""Characters: what is shorter may be in any text."""
MOST_VALUES = 10_000
"""Of a run; further ones are not looked for."""
SECRETS, EVENTS = "secrets", "events.events.k8s.io"
_PANIC = re.compile(
    r"^(panic: |fatal error: |Fatal Python error: |thread '.*' panicked at |\[signal SIG)"
    r"|Observed a panic|Segmentation fault"
)


def panic_in(output: Sequence[str]) -> list[str]:
    """The first line that says that a program gave up by itself."""
    found = next((line for line in output if _PANIC.search(line)), "")
    return [f"the program crashed by itself: {found[:200]}"] if found else []


class StoredSecret(Struct, frozen=True):
    """What is read of a Secret."""

    data: dict[str, str] | None = None


class SecretValues:
    """What Secrets held at any time of a run: those that were there before, and those that went."""

    def __init__(self, base: Snapshot, given: Iterable[Mapping[str, Any]] = ()) -> None:
        """What stands openly in `base`, or in other manifests that are given, is no secret."""
        self._values: dict[str, str] = {}
        """Of each as it is stored, whose it is."""
        self._open = [
            entry.raw
            for name, table in base.tables.items()
            if name != SECRETS
            for entry in table.entries.values()
        ]
        self._open += [msgspec.json.encode(each) for each in given if each.get("kind") != "Secret"]
        for key, entry in base.tables[SECRETS].entries.items() if SECRETS in base.tables else ():
            self.note(key, entry)

    def note(self, key: str, entry: StoredEntry) -> None:
        """A Secret was written."""
        for field, value in (stored_json.read(entry, StoredSecret).data or {}).items():
            if value not in self._values and len(self._values) < MOST_VALUES:
                self._values[value] = f"{field} of secret {key}"

    def leaked(self, view: ObjectView, output: Sequence[str]) -> Iterator[str]:
        """Which are in what a program printed, or in Events; never what is in them."""
        text = "\n".join(output)
        events = [entry.raw for name in (EVENTS, "events") for _, entry in view.entries(name)]
        for value, secret, name in self._secrets():
            if secret in text or value in text:
                yield f"{name} is in what the program prints"
            if any(secret.encode() in raw for raw in events):
                yield f"{name} is in an Event"

    def hidden(self, text: str) -> str:
        """A text for people, without any of them."""
        for value, secret, name in self._secrets():
            text = text.replace(secret, f"<{name}>").replace(value, f"<{name}>")
        return text

    def _secrets(self) -> Iterator[tuple[str, str, str]]:
        """As it is stored, as it is read, and whose it is."""
        for value, name in self._values.items():
            secret = _plain(value)
            if len(secret) >= LEAST_SECRET and not self._is_open(secret):
                yield value, secret, name

    def _is_open(self, word: str) -> bool:
        """Whether a text stood openly before the program ran, such as its own name."""
        return any(word.encode() in raw for raw in self._open)


def _plain(value: str) -> str:
    try:
        return base64.b64decode(value).decode()
    except (binascii.Error, ValueError):
        return ""
