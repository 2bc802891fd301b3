"""`quintant crd diff`: files, modules and clusters, compared; and what cannot be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from quintant.cli import main
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from unit.cluster.api import Requests

BOXES = "/apis/demo.dev/v1/namespaces/shop/boxes"
TEXT: dict[str, Any] = {"type": "string"}
WriteFile = Callable[..., str]


def definition(fields: Mapping[str, Any], name: str = "boxes") -> dict[str, Any]:
    spec = {"type": "object", "properties": dict(fields)}
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.demo.dev"},
        "spec": {
            "group": "demo.dev",
            "scope": "Namespaced",
            "names": {"kind": name.title(), "plural": name},
            "versions": [version],
        },
    }


OLD = definition({"size": {**TEXT, "enum": ["s", "xl"]}, "colour": TEXT})
NEW = definition({"size": {**TEXT, "enum": ["s"]}, "color": TEXT})
WIDER = definition({"size": TEXT, "colour": TEXT, "weight": {"type": "integer"}})


@pytest.fixture
def write(tmp_path: Path) -> WriteFile:
    """Write objects into a file, and return its name."""

    def writing(name: str, *objects: Any) -> str:
        path = tmp_path / f"{name}.yaml"
        path.write_text("---\n".join(msgspec.json.encode(each).decode() + "\n" for each in objects))
        return str(path)

    return writing


def diff(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["crd", "diff", *arguments])


def test_what_breaks_is_listed_with_its_field_and_ends_with_1(write: WriteFile) -> None:
    result = diff(write("old", OLD), write("new", NEW))

    assert result.exit_code == 1
    assert "boxes.demo.dev: 2 breaking, 1 safe" in result.output
    assert "v1.spec.size enum: 'xl' not allowed any more" in result.output
    assert "v1.spec.colour existingFieldRemoval" in result.output
    assert "perhaps it is color now" in result.output
    assert "newField" not in result.output


def test_safe_changes_end_with_0_and_are_listed_on_request(write: WriteFile) -> None:
    old, new = write("old", OLD), write("new", WIDER)

    assert diff(old, new).exit_code == 0
    assert "newField" not in diff(old, new).output
    assert "v1.spec.weight newField: it is new" in diff(old, new, "--all").output


def test_programs_read_the_same_as_json(write: WriteFile) -> None:
    result = diff(write("old", OLD), write("new", NEW), "-o", "json")

    document = msgspec.json.decode(result.output)
    assert document["breaks"] is True
    rules = {each["rule"]: each["impact"] for each in document["definitions"]["boxes.demo.dev"]}
    assert rules == {"enum": "breaking", "existingFieldRemoval": "breaking", "newField": "safe"}


def test_a_module_is_compared_with_a_file(write: WriteFile, tmp_path: Path) -> None:
    module = tmp_path / "boxes.py"
    module.write_text(
        "from quintant import Custom, Model, resource\n"
        "class BoxSpec(Model):\n    size: str | None = None\n"
        "@resource(group='demo.dev', version='v1')\n"
        "class Box(Custom[BoxSpec, None]):\n    'A box.'\n"
    )

    result = diff(write("old", OLD), str(module))

    assert result.exit_code == 1
    assert "v1.spec.colour existingFieldRemoval" in result.output


@pytest.mark.parametrize(
    ("old", "because"),
    [
        ((), "there is no object"),
        (({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}},), "it has no Custom"),
        ((OLD, OLD), "it has boxes.demo.dev more than once"),
        (({**OLD, "spec": {"versions": "none"}},), "no server takes: boxes.demo.dev"),
        (({**OLD, "spec": []},), "no server takes: boxes.demo.dev"),
    ],
)
def test_what_cannot_be_compared_ends_with_2_and_says_why(
    old: tuple[Any, ...], because: str, write: WriteFile
) -> None:
    result = diff(write("old", *old), write("new", NEW))

    assert result.exit_code == 2
    assert because in result.output


def test_a_file_that_is_not_there_ends_with_2(write: WriteFile) -> None:
    assert diff("nowhere.yaml", write("new", NEW)).exit_code == 2


@pytest.mark.realtime
async def test_stored_objects_that_would_be_refused_or_lose_a_field_are_named(
    write: WriteFile, tmp_path: Path
) -> None:
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        kubeconfig = tmp_path / "kubeconfig"
        save_kubeconfig(cluster, kubeconfig)
        transport = HttpTransport(Config.load(kubeconfig))
        api = Requests(transport)
        await api.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
        await api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", OLD)
        for name, spec in {"fits": {"size": "s"}, "large": {"size": "xl", "colour": "red"}}.items():
            box = {"apiVersion": "demo.dev/v1", "kind": "Boxes", "metadata": {"name": name}}
            await api.create(BOXES, {**box, "spec": spec})
        await transport.close()
        arguments = ("live", write("new", NEW), "--live", f"--kubeconfig={kubeconfig}")
        result = await asyncio.to_thread(diff, *arguments)

    assert result.exit_code == 1
    assert "boxes.demo.dev: 1 of 2 stored objects do not fit" in result.output
    assert "shop/large: it would lose a field" in result.output
    assert 'unknown field "spec.colour"' in result.output
    assert "shop/large: spec.size: Unsupported value" in result.output
    assert "shop/fits" not in result.output
