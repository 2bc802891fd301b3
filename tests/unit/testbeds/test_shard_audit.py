"""The witness of real members tells whoever wrote what was not its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quintant.core.object import Request
from quintant.runtime.shard.group_lease import HOLDER, MAP
from quintant.runtime.shard.layout import range_of
from quintant.runtime.shard.shard_map import ShardMap, encode_map
from testbeds.shard_audit import AuditedGroup

NUMBER = range_of(Request("o1", "default"), 128)
OTHER = range_of(Request("o2", "default"), 128)


def event(resource: str, name: str, version: int, agent: str = "", **made: Any) -> dict[str, Any]:
    """A request that was answered, as an audit log has it."""
    meta = {"name": name, "resourceVersion": str(version), **made.pop("metadata", {})}
    return {
        "verb": "patch",
        "requestURI": f"/apis/a/v1/namespaces/default/{resource}/{name}/status?timeout=5s",
        "userAgent": agent,
        "sourceIPs": ["127.0.0.1"],
        "objectRef": {"resource": resource, "name": name},
        "responseStatus": {"code": 200},
        "responseObject": {"metadata": meta, **made},
    }


def lease(version: int, holder: str, **held: int) -> dict[str, Any]:
    """A change of the group's Lease: who holds o1's range, and since which epoch."""
    text = ""
    for member, epoch in held.items():
        empty = ShardMap("x", 128, id="m", proven=True)
        text = encode_map(empty.taken([NUMBER], member, epoch))
    notes = {"annotations": {MAP: text}}
    return event("leases", "orders", version, metadata=notes, spec={"holderIdentity": holder})


def written(version: int, epoch: int, number: int = NUMBER) -> dict[str, Any]:
    return event("orders", "o1", version, f"quintant/1 range={number} epoch={epoch}")


def by_a_leader(version: int) -> dict[str, Any]:
    return event("orders", "o1", version, "quintant/1")


def violations(folder: Path, *events: dict[str, Any]) -> int:
    log = folder / "audit.log"
    log.write_text("".join(json.dumps(each) + "\n" for each in events) + '{"verb": "half')
    return len(AuditedGroup.read("orders", log).violations())


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([lease(10, HOLDER, a=9), written(11, 9)], 0),
        ([lease(10, HOLDER, a=9), written(11, 8)], 1),
        ([lease(10, HOLDER, a=9), written(11, 9, OTHER)], 2),
        ([lease(10, HOLDER, a=9), lease(12, HOLDER, b=11), written(13, 9)], 1),
        ([lease(10, HOLDER, a=9), lease(12, HOLDER, b=11), written(11, 9), written(13, 11)], 0),
        ([written(11, 9)], 1),
        ([lease(10, "leader"), by_a_leader(11)], 0),
        ([lease(10, HOLDER, a=9), by_a_leader(11)], 1),
        ([lease(10, "leader"), lease(12, HOLDER, a=11), by_a_leader(11)], 0),
    ],
)
def test_a_write_is_judged_by_the_map_of_its_revision(
    tmp_path: Path, events: list[dict[str, Any]], count: int
) -> None:
    assert violations(tmp_path, *events) == count


def test_a_write_that_changed_nothing_is_the_one_before(tmp_path: Path) -> None:
    found = [lease(10, HOLDER, a=9), written(11, 9), lease(13, HOLDER, b=12), written(11, 12)]
    assert violations(tmp_path, *found) == 0
    assert violations(tmp_path, *found[:1], *found[2:]) == 1
