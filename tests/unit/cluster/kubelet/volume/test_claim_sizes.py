"""Programs are told how large their claims are, also after these have grown."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from quintant.agents.volumes import volume_usage
from unit.cluster.api import PODS
from unit.cluster.kubelet.world import World, container, text, write

CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
GIB = 2**30


async def claim(world: World, size: str) -> None:
    """A claim with a volume of our driver."""
    csi = {"driver": "directory.quintant.dev", "volumeHandle": "one"}
    disk = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "csi": csi}
    await world.api.create("/api/v1/persistentvolumes", {"metadata": {"name": "pv"}, "spec": disk})
    asked = {"resources": {"requests": {"storage": size}}, "accessModes": ["ReadWriteOnce"]}
    whole = {"metadata": {"name": "disk"}, "spec": {**asked, "volumeName": "pv"}}
    await world.api.create(CLAIMS, whole)
    await grow(world, size)


async def grow(world: World, size: str) -> None:
    status = {"phase": "Bound", "capacity": {"storage": size}}
    await world.api.merge(f"{CLAIMS}/disk/status", {"status": status})


async def started(world: World, *mounts: str, **more: Any) -> dict[str, str]:
    """The variables of a program with the claim at some paths."""
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "disk"}}]
    made = container(volumeMounts=[{"name": "d", "mountPath": each} for each in mounts], **more)
    await world.run("a", made, volumes=volumes)
    return dict(world.processes.newest.launch.env)


async def test_the_size_of_a_claim_is_told_and_follows_its_growth(world: World) -> None:
    await claim(world, "1Gi")
    env = await started(world, "/data")
    (told,) = json.loads(text(env["QUINTANT_CLAIMS"]))["claims"]
    assert (told["mountPath"], told["claim"], told["bytes"]) == ("/data", "disk", GIB)
    assert Path(told["path"]) == (world.node.storage / "volumes" / "one").resolve()
    await grow(world, "3Gi")
    await asyncio.sleep(0.1)
    assert json.loads(text(env["QUINTANT_CLAIMS"]))["claims"][0]["bytes"] == 3 * GIB
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(1)
    assert await world.gone()


async def test_a_program_without_claims_is_told_nothing(world: World) -> None:
    await world.run("a")
    assert "QUINTANT_CLAIMS" not in world.processes.newest.launch.env


async def test_an_agent_answers_how_full_its_volume_is(world: World) -> None:
    await claim(world, "1Gi")
    env = await started(world, "/data", args=["/data"])
    folder = world.processes.newest.launch.argv[1]
    write(f"{folder}/block", "x" * 100_000)
    write(f"{env['QUINTANT_ROOT']}/data/more", "x" * 100_000)
    for path in (folder, f"{env['QUINTANT_ROOT']}/data", f"{folder}/block"):
        used, size = volume_usage(path, env)
        assert size == GIB
        assert 200_000 <= used < 300_000
