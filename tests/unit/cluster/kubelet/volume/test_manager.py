"""What a pod refers to: waited for, shown as files and variables, and kept up to date."""

from __future__ import annotations

import asyncio
from pathlib import Path

from unit.cluster.api import PODS
from unit.cluster.kubelet.world import World, container, real, status, text, write

CONFIGS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


async def test_a_missing_secret_holds_a_container_until_it_is_there(world: World) -> None:
    source = {"secretKeyRef": {"name": "s", "key": "k"}}
    pod = await world.run("a", container(env=[{"name": "K", "valueFrom": source}]))
    assert status(pod)["state"]["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": 'secret "s" not found',
    }
    assert not world.processes.started
    await world.api.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    assert (await world.pod())["status"]["phase"] == "Running"
    assert world.processes.newest.launch.env["K"] == "v"


async def test_files_follow_their_config_map(world: World) -> None:
    await world.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"k": "1"}})
    volumes = [{"name": "c", "configMap": {"name": "c"}}]
    mounts = [{"name": "c", "mountPath": "/etc/c"}]
    await world.run("a", container(args=["--file=/etc/c/k"], volumeMounts=mounts), volumes=volumes)
    word = world.processes.newest.launch.argv[1]
    path = word.removeprefix("--file=")
    assert text(path) == "1"
    await world.api.merge(f"{CONFIGS}/c", {"data": {"k": "2"}})
    await asyncio.sleep(0.1)
    assert text(path) == "2"


async def test_a_pods_token_is_its_own_and_is_renewed(world: World) -> None:
    await world.api.create(ACCOUNTS, {"metadata": {"name": "robot"}})
    token = {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}
    volumes = [{"name": "t", "projected": {"sources": [token]}}]
    where = "/var/run/secrets/kubernetes.io/serviceaccount"
    mounts = [{"name": "t", "mountPath": where}]
    await world.run(
        "a", container(volumeMounts=mounts), volumes=volumes, serviceAccountName="robot"
    )
    path = f"{world.processes.newest.launch.env['QUINTANT_SERVICE_ACCOUNT']}/token"
    first = text(path)
    asked = {"spec": {"token": first}}
    review = await world.api.create("/apis/authentication.k8s.io/v1/tokenreviews", asked)
    assert review["status"]["user"]["username"] == "system:serviceaccount:default:robot"
    await asyncio.sleep(24 * 3600)
    assert text(path) != first
    world.processes.newest.stubborn = True
    await world.api.delete(f"{PODS}/a", {"gracePeriodSeconds": 7200})
    await asyncio.sleep(7300)
    assert await world.gone()


async def test_files_follow_the_pods_own_labels(world: World) -> None:
    item = {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}
    volumes = [{"name": "d", "downwardAPI": {"items": [item]}}]
    mounts = [{"name": "d", "mountPath": "/pod"}]
    await world.run("a", container(volumeMounts=mounts), volumes=volumes)
    path = f"{world.processes.newest.launch.env['QUINTANT_ROOT']}/pod/labels"
    assert text(path) == ""
    await world.api.merge(f"{PODS}/a", {"metadata": {"labels": {"a": "b"}}})
    await asyncio.sleep(0.1)
    assert text(path) == 'a="b"'


async def test_a_part_of_a_volume_and_a_volume_in_a_volume_appear(world: World) -> None:
    await world.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    volumes = [{"name": "c", "configMap": {"name": "c"}}, {"name": "e", "emptyDir": {}}]
    mounts = [
        {"name": "c", "mountPath": "/data/config"},
        {"name": "e", "mountPath": "/data"},
        {"name": "c", "mountPath": "/etc/only", "subPath": "k"},
        {"name": "e", "mountPath": "/own", "subPathExpr": "of-$(WHO)"},
    ]
    env = [{"name": "WHO", "value": "me"}]
    await world.run("a", container(volumeMounts=mounts, env=env), volumes=volumes)
    root = Path(world.processes.newest.launch.env["QUINTANT_ROOT"])
    assert text(f"{root}/data/config/k") == "v"
    assert text(f"{root}/etc/only") == "v"
    volume = world.kubelet.sandboxes()[0].folder / "volumes" / "e"
    assert real(root / "own") == real(volume / "of-me")


async def test_a_mount_path_is_a_folder_and_not_a_link(world: World) -> None:
    await world.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    volumes = [{"name": "c", "configMap": {"name": "c"}}, {"name": "e", "emptyDir": {}}]
    mounts = [{"name": "c", "mountPath": "/etc/c"}, {"name": "e", "mountPath": "/data"}]
    both = [container(name, args=["/etc/c", "/data"], volumeMounts=mounts) for name in ("a", "b")]
    await world.run("a", *both, volumes=volumes)
    for process in world.processes.started:
        config, data = map(Path, process.launch.argv[1:])
        assert config.is_dir()
        assert not config.is_symlink()
        assert data.is_dir()
        assert not data.is_symlink()
        assert str(config) == process.launch.env["QUINTANT_ROOT"] + "/etc/c"
    await world.api.merge(f"{CONFIGS}/c", {"data": {"k": "next"}})
    await asyncio.sleep(0.1)
    for process in world.processes.started:
        assert text(f"{process.launch.argv[1]}/k") == "next"


async def test_a_mount_path_that_leads_up_stays_in_the_root(world: World, tmp_path: Path) -> None:
    up = f"{'/..' * 20}{tmp_path}/stolen"
    mounts, volumes = [{"name": "e", "mountPath": up}], [{"name": "e", "emptyDir": {}}]
    await world.run("a", container(volumeMounts=mounts), volumes=volumes)
    assert world.processes.alive
    assert not (tmp_path / "stolen").exists()


async def test_a_claim_is_a_folder_that_outlives_the_pod(world: World) -> None:
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    amount = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "disk"}}]
    mounts = [{"name": "d", "mountPath": "/data"}]
    pod = await world.run("a", container(volumeMounts=mounts), volumes=volumes)
    assert status(pod)["state"]["waiting"]["reason"] == "ContainerCreating"
    csi = {"driver": "directory.quintant.dev", "volumeHandle": "one"}
    disk = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "csi": csi}
    await world.api.create("/api/v1/persistentvolumes", {"metadata": {"name": "pv"}, "spec": disk})
    claim = {"metadata": {"name": "disk"}, "spec": {**amount, "volumeName": "pv"}}
    await world.api.create(claims, claim)
    await world.api.merge(f"{claims}/disk/status", {"status": {"phase": "Bound"}})
    assert (await world.pod(after=2.1))["status"]["phase"] == "Running"
    root = world.processes.newest.launch.env["QUINTANT_ROOT"]
    write(f"{root}/data/word", "kept")
    await world.api.delete(f"{PODS}/a")
    await asyncio.sleep(1)
    assert await world.gone()
    assert text(str(world.node.storage / "volumes" / "one" / "word")) == "kept"


async def test_a_local_volume_leads_out_of_the_storage_by_no_link(
    world: World, tmp_path: Path
) -> None:
    outside, way = tmp_path / "outside", world.node.storage / "volumes" / "way"
    link(outside, way)
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}
    disk = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "local": {"path": f"{way}/deeper"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    await world.api.create("/api/v1/persistentvolumes", {"metadata": {"name": "pv"}, "spec": disk})
    claims = "/api/v1/namespaces/default/persistentvolumeclaims"
    amount = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    claim = {"metadata": {"name": "disk"}, "spec": {**amount, "volumeName": "pv"}}
    await world.api.create(claims, claim)
    await world.api.merge(f"{claims}/disk/status", {"status": {"phase": "Bound"}})
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "disk"}}]
    mounts = [{"name": "d", "mountPath": "/data"}]
    pod = await world.run("a", container(volumeMounts=mounts), volumes=volumes)
    assert status(pod)["state"]["waiting"]["reason"] == "ContainerCreating"
    assert not world.processes.started
    assert empty(outside)


def link(target: Path, place: Path) -> None:
    target.mkdir()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def empty(folder: Path) -> bool:
    return not list(folder.iterdir())


async def test_a_host_path_is_refused_unless_it_is_allowed(world: World) -> None:
    pod = await world.run("a", volumes=[{"name": "h", "hostPath": {"path": "/etc"}}])
    assert status(pod)["state"]["waiting"]["reason"] == "ContainerCreating"
    assert await world.events("FailedMount") == [
        'MountVolume.SetUp failed for volume "h" : hostPath /etc is not allowed on this node'
    ]
