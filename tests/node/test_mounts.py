"""Mount paths as programs see them: folders, also at /tmp and to programs that follow no link."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from node.node_fixture import NodeCluster, ended
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.cluster.kubelet.container.images import ImageProgram
from quintant.cluster.kubelet.options import NodeOptions
from quintant.core.address import BindAddress
from unit.cluster.api import JsonObject

CONFIGS = "/api/v1/namespaces/default/configmaps"
WALKER = """
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	_ = filepath.Walk(os.Args[1], func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			if text, failed := os.ReadFile(path); failed == nil {
				fmt.Printf("%s: %s\\n", info.Name(), text)
			}
		}
		return err
	})
}
"""
COPY = "cp /tmp/word /home/operator/word; cat /home/operator/word; touch $HOME/own $TMPDIR/own"
BUSYBOX = ImageProgram(image="example/busybox", command="sh")


@pytest.fixture
def walker(tmp_path: Path) -> Path:
    """A Go program that walks a folder and prints its files."""
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        pytest.skip("there is no Go to build a program with that walks folders")
    source, program = tmp_path / "walk.go", tmp_path / "walk"
    source.write_text(WALKER)
    env = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GO111MODULE": "off"}
    subprocess.run([go, "build", "-o", program, source], check=True, env=env, cwd=tmp_path)
    return program


async def test_a_go_program_walks_a_config_map(walker: Path) -> None:
    program = ImageProgram(image="example/walker", argv=(str(walker),))
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions((program,)))
    async with run_cluster(config) as cluster:
        node = NodeCluster(cluster)
        data = {"one": "1", "two": "2"}
        await node.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": data})
        main: JsonObject = {"name": "main", "image": program.image, "args": ["/etc/device"]}
        main |= {"volumeMounts": [{"name": "c", "mountPath": "/etc/device"}]}
        volumes = [{"name": "c", "configMap": {"name": "c"}}]
        await node.create("a", containers=[main], volumes=volumes, restartPolicy="Never")
        await node.until("a", ended)
        printed = (await node.logs("a")).splitlines()
        assert {"one: 1", "two: 2"} <= set(printed)


async def test_a_pod_mounts_tmp_and_a_folder_below_home(tmp_path: Path) -> None:
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions((BUSYBOX,)))
    async with run_cluster(config) as cluster:
        node = NodeCluster(cluster)
        await node.api.create(CONFIGS, {"metadata": {"name": "c"}, "data": {"word": "moved"}})
        mounts = [
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "home", "mountPath": "/home/operator"},
            {"name": "c", "mountPath": "/tmp/word", "subPath": "word"},
        ]
        env = [{"name": "HOME", "value": "/home/operator"}]
        main: JsonObject = {"name": "main", "image": BUSYBOX.image, "command": ["sh", "-c", COPY]}
        main |= {"volumeMounts": mounts, "env": env}
        volumes = [
            {"name": "tmp", "emptyDir": {}},
            {"name": "home", "emptyDir": {}},
            {"name": "c", "configMap": {"name": "c"}},
        ]
        await node.create("a", containers=[main], volumes=volumes, restartPolicy="Never")
        pod = await node.until("a", ended)
        assert (pod["status"]["phase"], await node.logs("a")) == ("Succeeded", "moved")


async def test_a_shell_finds_the_programs_of_its_image(tmp_path: Path) -> None:
    (tmp_path / "config-merge").write_text("#!/bin/sh\necho merged $1\n")
    (tmp_path / "config-merge").chmod(0o755)
    tools = ImageProgram(image="example/tools", command="sh", path=(str(tmp_path),))
    config = ClusterConfig(BindAddress("127.0.0.1", 0), node=NodeOptions((tools,)))
    async with run_cluster(config) as cluster:
        node = NodeCluster(cluster)
        line = "config-merge $(basename /a/b)"
        main: JsonObject = {"name": "main", "image": tools.image, "command": ["sh", "-c", line]}
        await node.create("a", containers=[main], restartPolicy="Never")
        await node.until("a", ended)
        assert await node.logs("a") == "merged b\n"
