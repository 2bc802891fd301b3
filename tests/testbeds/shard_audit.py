"""A real API server's audit log, as the witness of a sharded program: who wrote what, and when.

The log has every request that changes a Lease, the status of an Order or a ConfigMap, with what
came of it. So each write can be compared with the map of the revision in which it was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from quintant.runtime.shard.group_lease import HOLDER, MAP
from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.shard_map import decode_map
from testbeds.shard_group import MARK, ObservedWrite, Witness

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources:
  - {group: coordination.k8s.io, resources: [leases]}
  - {group: example.dev, resources: [orders/status]}
  - {group: "", resources: [configmaps]}
- level: None
"""
PROGRAM = "quintant/"
"""How the User-Agent of a program of ours begins."""


@dataclass
class AuditedGroup:
    """What an audit log says of one group, whose Lease has its name."""

    group: str
    witness: Witness = field(default_factory=Witness)
    leaders: list[tuple[int, str]] = field(default_factory=list)
    """Who held the Lease from which version on, whatever that was."""
    unmarked: list[ObservedWrite] = field(default_factory=list)
    """Writes that name no range: those of a leader."""

    @classmethod
    def read(cls, group: str, log: Path) -> AuditedGroup:
        """What the log says so far."""
        found = cls(group)
        for event in events(log):
            found._note(event)
        return found

    def violations(self) -> list[str]:
        """Writes by others than the holder of their range, or of the Lease of a leader."""
        return [*self._by_members(), *self._by_leaders()]

    def _by_members(self) -> list[str]:
        # A write that changes nothing has the version of the one before; that one is judged.
        first: dict[tuple[str, int], list[ObservedWrite]] = {}
        for write in self.witness.writes:
            first.setdefault((write.object.removesuffix("/status"), write.version), []).append(
                write
            )
        found = []
        for writes in first.values():
            wrong = [Witness(self.witness.maps, [write]).violations() for write in writes]
            if all(wrong):
                found += wrong[0]
        return found

    def _by_leaders(self) -> list[str]:
        return [
            f"{write} while {self._holder(write.version)!r} held the Lease"
            for write in self.unmarked
            if self._holder(write.version) in (HOLDER, "")
        ]

    def _holder(self, version: int) -> str:
        held = [holder for at, holder in sorted(self.leaders) if at < version]
        return held[-1] if held else ""

    def _note(self, event: dict[str, Any]) -> None:
        if event["responseStatus"].get("code", 500) >= 300:
            return
        what, made = event["objectRef"], event.get("responseObject") or {}
        if what["resource"] == "leases":
            if what.get("name") == self.group or name_of(made) == self.group:
                self._note_lease(event["verb"], made)
        elif event["userAgent"].startswith(PROGRAM):
            self._note_write(event, made)

    def _note_lease(self, verb: str, made: dict[str, Any]) -> None:
        if verb == "delete":
            return
        version, holder = version_of(made), made["spec"].get("holderIdentity", "")
        text = made["metadata"].get("annotations", {}).get(MAP, "")
        self.leaders.append((version, holder))
        ours = holder in (HOLDER, "") and text
        self.witness.maps.append((version, decode_map(text) if ours else None))

    def _note_write(self, event: dict[str, Any], made: dict[str, Any]) -> None:
        mark = MARK.search(event["userAgent"])
        number = LEADER if mark is None or mark[1] == "leader" else int(mark[1])
        epoch = 0 if mark is None else int(mark[2])
        path = event["requestURI"].partition("?")[0]
        if event["verb"] == "create" and not path.endswith(name_of(made)):
            path = f"{path}/{name_of(made)}"
        write = ObservedWrite(version_of(made), event["sourceIPs"][0], path, number, epoch, text="")
        (self.unmarked if mark is None else self.witness.writes).append(write)


def events(log: Path) -> Iterator[dict[str, Any]]:
    """The requests that the log has; its last line may be half written."""
    *lines, _ = log.read_bytes().split(b"\n")
    for line in filter(None, lines):
        yield msgspec.json.decode(line)


def name_of(made: dict[str, Any]) -> str:
    return str(made.get("metadata", {}).get("name", ""))


def version_of(made: dict[str, Any]) -> int:
    return int(made["metadata"]["resourceVersion"])
