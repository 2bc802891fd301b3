"""What a real cluster is made of, without root and without one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster.broken import BROKEN, broken_objects
from manifests.operator_parts import operator_parts
from quintant.client.rest import Rest
from quintant.operators import OPERATORS
from quintant.runtime.cache.manifests import Applier
from quintant.testing import InProcessCluster
from realcluster import flags
from realcluster.__main__ import unable
from realcluster.cluster import keep_logs
from realcluster.images.archive import full_name, stand_ins
from realcluster.images.build import fingerprint
from realcluster.images.extra_layer import needed
from realcluster.images.oci import ImageLayout
from realcluster.install import DEPLOY, namespace, overlay
from realcluster.keys import Keys
from realcluster.layout import API_SERVER, Layout
from realcluster.nodes import cgroups, files
from realcluster.objects import dns_objects, volume_objects
from realcluster.programs import COREDNS
from realcluster.record import Record
from realcluster.samples import SAMPLES


class TestLayout:
    def test_nodes_share_neither_names_nor_addresses_nor_folders(self) -> None:
        one, two = (Layout(Path("/state")).machine(number) for number in (1, 2))
        for name in ("name", "address", "pods", "link", "cgroup", "folder"):
            assert getattr(one, name) != getattr(two, name)

    def test_every_component_has_a_kubeconfig_with_a_key_that_only_root_reads(
        self, tmp_path: Path
    ) -> None:
        layout = Layout(tmp_path)
        Keys.make(layout).node("worker-1")
        for name in ("admin", "manager", "scheduler", "proxy", "dns", "worker-1"):
            document = json.loads(layout.kubeconfig_of(name).read_text())
            assert document["clusters"][0]["cluster"]["server"] == API_SERVER
            key = Path(document["users"][0]["user"]["client-key"])
            assert key.stat().st_mode & 0o777 == 0o600

    def test_what_flags_name_was_made(self, tmp_path: Path) -> None:
        layout = Layout(tmp_path)
        Keys.make(layout)
        lines = (*flags.apiserver(layout), *flags.manager(layout), *flags.scheduler(layout))
        named = [Path(each.partition("=")[2]) for each in lines if f"={tmp_path}" in each]
        assert named
        assert [path for path in named if not path.exists()] == []


class TestNodes:
    def test_a_node_never_changes_a_setting_of_the_whole_machine(self) -> None:
        proxy = json.loads(files.proxy(Layout(Path("/s")).machine(1), Layout(Path("/s"))))
        assert proxy["conntrack"]["maxPerCore"] == 0
        assert {"vm/overcommit_memory", "kernel/panic"} <= files.KERNEL_SETTINGS.keys()

    def test_every_node_has_volumes_of_its_own(self) -> None:
        layout = Layout(Path("/state"))
        objects = volume_objects([layout.machine(1), layout.machine(2)])
        names = [each["metadata"]["name"] for each in objects]
        assert len(set(names)) == len(names)
        assert {each["kind"] for each in objects} == {"StorageClass", "PersistentVolume"}

    def test_dns_is_a_service_without_a_selector(self) -> None:
        service = next(each for each in dns_objects() if each["kind"] == "Service")
        assert "selector" not in service["spec"]

    def test_coredns_is_built_with_the_plugins_that_its_file_names(self) -> None:
        for line in flags.corefile(Layout(Path("/state"))).splitlines():
            words = line.split()
            if line.startswith("  ") and not line.startswith("    ") and words != ["}"]:
                assert f'"{words[0]}"' in COREDNS.main


class TestCgroups:
    def test_first_version_has_one_in_every_hierarchy(self, tmp_path: Path) -> None:
        for name in ("cpu", "memory", "pids", "cpuset"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "cgroup.procs").touch()
        assert cgroups.missing(tmp_path) == ()
        cgroups.make("ours/node", tmp_path)
        for top in cgroups.tops("ours", tmp_path):
            assert (top / "node").is_dir()
            assert cgroups.remove(top)
            assert not top.exists()

    def test_second_version_passes_its_controllers_on(self, tmp_path: Path) -> None:
        (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
        (tmp_path / "cgroup.subtree_control").touch()
        assert cgroups.missing(tmp_path) == ("pids",)
        cgroups.make("ours", tmp_path)
        assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpu +memory"


class TestRecord:
    def test_what_is_recorded_is_removed_and_nothing_else(self, tmp_path: Path) -> None:
        ours, other = (subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
                       for _ in range(2))  # fmt: skip
        record = Record(tmp_path / "record.jsonl")
        folder = tmp_path / "state"
        folder.mkdir()
        record.process(ours.pid, "ours")
        record.folder(folder)
        try:
            assert record.remove_all() == ()
            assert not psutil.pid_exists(ours.pid)
            assert other.poll() is None
            assert [path.name for path in tmp_path.iterdir()] == []
        finally:
            other.kill()
            other.communicate()
            ours.communicate()

    def test_a_process_that_took_the_pid_of_ours_is_spared(self, tmp_path: Path) -> None:
        own = psutil.Process()
        entry = {"process": own.pid, "began": own.create_time() - 1, "name": "old"}
        (tmp_path / "record.jsonl").write_text(json.dumps(entry) + '\n{"process": 1, "beg')
        assert Record(tmp_path / "record.jsonl").remove_all() == ()
        assert own.is_running()

    def test_logs_outlive_their_cluster_and_those_of_the_one_before_do_not(
        self, tmp_path: Path
    ) -> None:
        kept = tmp_path / "logs"
        kept.mkdir()
        (kept / "before.log").write_text("of another")
        layout = Layout(tmp_path / "state")
        for folder, name in ((layout.logs, "etcd"), (layout.machine(1).logs, "kubelet")):
            folder.mkdir(parents=True)
            (folder / f"{name}.log").write_text(name)
        keep_logs(layout, kept)
        found = {path.name: path.read_text() for path in kept.iterdir()}
        assert found == {"etcd.log": "etcd", "worker-1-kubelet.log": "kubelet"}


class TestImages:
    def test_a_further_name_has_the_same_layers_and_another_program(self, tmp_path: Path) -> None:
        layout = image_layout(tmp_path / "layout")
        archive = tmp_path / "images.tar"
        layout.archive({"a": layout.first(), "b": layout.add(("sleep", "9"), {})}, archive)
        subprocess.run(["tar", "-xf", archive, "--one-top-level=out"], cwd=tmp_path, check=True)
        index = json.loads((tmp_path / "out" / "index.json").read_text())
        a, b = (blob(tmp_path / "out", each) for each in index["manifests"])
        assert a["layers"] == b["layers"]
        assert blob(tmp_path / "out", a["config"])["config"] == {"User": "7"}
        changed = blob(tmp_path / "out", b["config"])["config"]
        assert (changed["User"], changed["Entrypoint"]) == ("7", ["sleep", "9"])

    def test_an_image_may_have_one_layer_more(self, tmp_path: Path) -> None:
        layout = image_layout(tmp_path / "layout")
        manifest = blob(layout.folder, layout.add_layer(b"more"))
        assert manifest["layers"][0]["digest"] == "sha256:l"
        added = manifest["layers"][1]["digest"]
        assert blob(layout.folder, manifest["config"])["rootfs"]["diff_ids"][-1] == added

    def test_the_layer_of_an_extra_has_what_that_needs_in_turn(self) -> None:
        assert {"cel-expr-python", "google-re2", "rich", "pygments"} <= needed("cluster").keys()
        assert "grpcio" not in needed("cluster")

    def test_an_image_of_the_table_is_ours_with_its_program(self) -> None:
        found = stand_ins(["edgehub/mockdevice-camera", "example/unknown"])
        assert found == {"edgehub/mockdevice-camera": ("quintant", "agent", "mockdevice-camera")}

    @pytest.mark.parametrize(
        ("image", "name"), [("a:1", "docker.io/library/a:1"), ("a/b:1", "docker.io/a/b:1")]
    )
    def test_a_name_without_a_registry_is_completed(self, image: str, name: str) -> None:
        assert full_name(image) == name

    def test_a_changed_source_is_another_image(self, tmp_path: Path) -> None:
        (tmp_path / "src" / "__pycache__").mkdir(parents=True)
        (tmp_path / "src" / "a.py").write_text("1")
        before = fingerprint(tmp_path, ("src",))
        (tmp_path / "src" / "__pycache__" / "a.pyc").write_text("1")
        assert fingerprint(tmp_path, ("src",)) == before
        (tmp_path / "src" / "a.py").write_text("2")
        assert fingerprint(tmp_path, ("src",)) != before


class TestUsers:
    @pytest.mark.parametrize("operator", OPERATORS)
    def test_an_overlay_stands_on_what_is_deployed(self, operator: str, tmp_path: Path) -> None:
        document = overlay(operator, {"NAME": "value"}, tmp_path)
        (base,) = document["resources"]
        assert (tmp_path / base).resolve() == DEPLOY / operator
        assert '"name": "NAME"' in document["patches"][0]["patch"]

    def test_no_sample_brings_nodes(self) -> None:
        kinds = {each["kind"] for sample in SAMPLES.values() for each in sample.manifests}
        assert kinds >= {"EdgeDevice", "CosmosFullNode", "Cluster", "PortalExpose", "Pod"}
        assert not kinds & {"Node", "ScheduledVolumeSnapshot"}

    @pytest.mark.parametrize("operator", ["cosmos", "infra", "portal", "shifu"])
    async def test_definitions_take_objects_that_only_an_operator_finds_wrong(
        self, cluster: InProcessCluster, operator: str
    ) -> None:
        applier = Applier(Rest(cluster.admin), "test")
        definitions = operator_parts(operator)["crds"]
        kinds = {each["spec"]["names"]["kind"] for each in definitions if "names" in each["spec"]}
        found = [each for each in broken_objects() if each["kind"] in kinds]
        assert [each["metadata"]["name"] for each in found] == [BROKEN]
        homes = {each["metadata"]["namespace"] for each in found}
        homes.update(OPERATORS[operator].namespaces)
        await applier.apply((*map(namespace, sorted(homes)), *definitions))
        await applier.apply(found)

    @pytest.mark.parametrize(("environ", "code"), [({}, 0), ({"QUINTANT_REQUIRED": "1"}, 1)])
    def test_a_machine_that_lacks_something_fails_only_where_tests_are_required(
        self, environ: dict[str, str], code: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert unable(("root: this is user 7",), environ) == code
        assert "root: this is user 7" in capsys.readouterr().err


def image_layout(folder: Path) -> ImageLayout:
    """An image with one layer and a user."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    config = {"config": {"User": "7"}, "rootfs": {"type": "layers", "diff_ids": ["sha256:l"]}}
    (blobs / "c").write_text(json.dumps(config))
    (blobs / "l").write_text("layer")
    manifest = {"config": {"digest": "sha256:c"}, "layers": [{"digest": "sha256:l"}]}
    (blobs / "m").write_text(json.dumps(manifest))
    (folder / "oci-layout").write_text("{}")
    (folder / "index.json").write_text(json.dumps({"manifests": [{"digest": "sha256:m"}]}))
    return ImageLayout(folder)


def blob(folder: Path, descriptor: dict[str, Any]) -> dict[str, Any]:
    """A document of a layout."""
    path = folder / "blobs" / Path(*descriptor["digest"].split(":"))
    found: dict[str, Any] = json.loads(path.read_text())
    return found
