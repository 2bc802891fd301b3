"""A module of cluster/ is found by Kubernetes' own name for what it does.

The first line of its docstring begins with the identifier that one would type into the search of
Kubernetes' sources: `ActivePodsWithRanks: which pods of a ReplicaSet go first ...`. A module that
has no counterpart there is in `OURS`.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

CLUSTER = Path(__file__).parents[3] / "src/quintant/cluster"
OURS = {
    "apiserver/admission/plugins/context.py",
    "apiserver/authentication/jwt.py",
    "apiserver/codec/size.py",
    "apiserver/kinds/draft.py",
    "apiserver/meta/types.py",
    "apiserver/offload/pool.py",
    "apiserver/storage/data_folder.py",
    "common/inert_kinds.py",
    "common/labels.py",
    "common/node_faults.py",
    "common/views.py",
    "common/volume_paths.py",
    "component/component.py",
    "component/partition.py",
    "controllers/inert.py",
    "controllers/nodes/views.py",
    "host/command_line.py",
    "host/loopback.py",
    "host/remove_tree.py",
    "host/yaml_file.py",
    "instance/check_documents.py",
    "instance/cluster.py",
    "instance/readiness.py",
    "instance/recording.py",
    "instance/recording_file.py",
    "instance/records.py",
    "instance/renumber.py",
    "instance/replay.py",
    "instance/snapshot_files.py",
    "kubelet/cluster_access.py",
    "kubelet/container/images.py",
    "kubelet/container/loaders.py",
    "kubelet/local_node.py",
    "kubelet/node_context.py",
    "kubelet/pod/restore.py",
    "kubelet/process/exec_process.py",
    "kubelet/process/fd_stream.py",
    "kubelet/process/process_input.py",
    "kubelet/process/processes.py",
    "kubelet/process/spawn.py",
    "kubelet/process_nodes/controller.py",
    "kubelet/process_nodes/meter.py",
    "kubelet/process_nodes/node.py",
    "kubelet/running.py",
    "kubelet/volume/claim_sizes.py",
    "kubelet/volume/rootfs.py",
    "kubeproxy/ports.py",
    "simulated/component.py",
    "simulated/fleet.py",
    "simulated/views.py",
    "volumes/component.py",
}
"""Modules that do what no part of Kubernetes does."""
SOURCES = {
    "cel-go",
    "etcd",
    "kube-openapi",
    "kubeadm",
    "cadvisor",
    "KWOK",
    "CoreDNS",
    "csi-driver-host-path",
    "external-provisioner",
    "external-resizer",
}
"""What an identifier may be preceded by: the repository or program that it is from."""
WORDS = {
    "Activation",
    "Allocators",
    "Cacher",
    "Covers",
    "Interpretable",
    "Kubelet",
    "Macro",
    "Priority",
    "Proxier",
    "Stage",
    "mvcc",
    "patcher",
    "systemnamespaces",
    "tainteviction",
}
"""Identifiers that look like words of a language."""
SHAPE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}|[._/-]")
"""What tells an identifier from a word: two humps, or a sign between parts."""
MODULES = sorted(
    path.relative_to(CLUSTER).as_posix()
    for path in CLUSTER.rglob("*.py")
    if path.name != "__init__.py"
)


def first_line(module: str) -> str:
    text = ast.get_docstring(ast.parse((CLUSTER / module).read_text()))
    return (text or "").split("\n")[0]


def is_identifier(part: str) -> bool:
    *source, name = part.split(" ")
    known = not source or (len(source) == 1 and source[0] in SOURCES)
    return known and (name in WORDS or bool(SHAPE.search(name)))


def begins_with_identifier(line: str) -> bool:
    head, colon, sentence = line.partition(": ")
    return bool(colon and sentence) and all(map(is_identifier, head.split(", ")))


def test_a_module_begins_with_the_identifier_that_kubernetes_has_for_it() -> None:
    lines = {module: first_line(module) for module in MODULES if module not in OURS}
    assert lines
    assert {name: line for name, line in lines.items() if not begins_with_identifier(line)} == {}


def test_modules_of_our_own_exist_and_claim_no_counterpart() -> None:
    assert sorted(OURS - set(MODULES)) == []
    assert [module for module in sorted(OURS) if begins_with_identifier(first_line(module))] == []


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("ActivePodsWithRanks: which pods of a ReplicaSet go first.", True),
        ("etcd WAL: no acknowledged write is lost.", True),
        ("JSONPath, fields.ParseSelector: two at once.", True),
        ("Watches: what clients follow.", False),
        ("The watchCache: an article is no part of a name.", False),
        ("ActivePodsWithRanks", False),
        ("", False),
    ],
)
def test_an_identifier_stands_alone_before_the_sentence(line: str, begins: bool) -> None:
    assert begins_with_identifier(line) == begins
