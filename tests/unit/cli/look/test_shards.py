"""`quintant shards` at a cluster, of which it reads Leases alone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from quintant.cli import main
from quintant.cli.client import open_client
from quintant.client.config.config import Config
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.core.clock import SystemClock, monotonic
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.shard.group_lease import group_lease, group_spec
from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.member import GroupMember, MemberInfo
from quintant.runtime.shard.shard_map import ShardMap

pytestmark = pytest.mark.realtime

SHARDS = ShardMap("x", 8, id="i", proven=True).taken(range(LEADER, 8), "one", 5)


async def asked(kubeconfig: Path, *words: str, code: int = 0) -> str:
    command = ["shards", *words, "--kubeconfig", str(kubeconfig)]
    done = await asyncio.to_thread(CliRunner().invoke, main, command)
    assert done.exit_code == code, done.output
    return done.output


async def test_members_ranges_and_the_place_of_an_object_are_shown(tmp_path: Path) -> None:
    way = tmp_path / "kubeconfig"
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        save_kubeconfig(cluster, way)
        nobody = await asked(way, "harbour", code=1)
        async with open_client(Config.load(way), "test") as client:
            leases, clock = LeaseClient(client.rest, "default"), SystemClock()
            member = GroupMember(leases, "harbour", "one", "pod_1", clock, monotonic)
            await member.renew(MemberInfo("x", "i", "ready"))
            unmapped = await asked(way, "harbour", "default/s1", code=1)
            await leases.create(group_lease("harbour", "default", SHARDS, group_spec(clock.now())))
            table = await asked(way, "harbour")
            whole = msgspec.json.decode(await asked(way, "harbour", "-o", "json"))
            place = await asked(way, "harbour", "default/s1")
            places = msgspec.json.decode(await asked(way, "harbour", "default/s1", "-o", "json"))

    assert "try: say the manager's name" in nobody
    assert "nobody can tell whose a key of harbour is" in unmapped
    assert table.splitlines()[1].split()[:5] == ["one", "pod_1", "ready", "8", "yes"]
    assert whole["members"][0]["held"]["leader"] == 5
    assert whole["waits"] == []
    assert place.splitlines()[0].split() == ["DIVIDED", "RANGE", "MEMBER", "EPOCH"]
    assert {each["member"] for each in places} == {"one"}
