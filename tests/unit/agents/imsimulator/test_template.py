"""Which machines a template asks for."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.agents.imsimulator.template import MachineSpec, TemplateError, load, wanted

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_0\n"


def template(nodes: dict[str, Any], inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"topology_template": {"inputs": inputs or {}, "node_templates": nodes}}


def compute(count: object = 1, memory: str = "2 GB") -> dict[str, Any]:
    return {
        "type": "tosca.nodes.Compute",
        "capabilities": {
            "host": {"properties": {"num_cpus": 2, "mem_size": memory}},
            "scalable": {"properties": {"count": count}},
        },
    }


def test_machines_are_counted_by_inputs_and_the_front_is_first() -> None:
    nodes = {"worker": compute({"get_input": "workers"}), "front": compute()}
    found = wanted(template(nodes, {"workers": {"type": "integer", "default": 2}}))
    assert found == (MachineSpec("front", 2, 2048), *[MachineSpec("worker", 2, 2048)] * 2)


def test_what_is_no_machine_is_left_out() -> None:
    nodes = {"software": {"type": "tosca.nodes.SoftwareComponent"}, "only": compute()}
    assert [each.role for each in wanted(template(nodes))] == ["only"]


@pytest.mark.parametrize(("memory", "mebibytes"), [("512 MB", 512), ("4 GiB", 4096), ("x", 1024)])
def test_memory_is_read_with_its_unit(memory: str, mebibytes: int) -> None:
    [found] = wanted(template({"only": compute(memory=memory)}))
    assert found.mebibytes == mebibytes


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ({}, "no machine"),
        ({"many": compute(21)}, "21 machines, and 20 may be"),
        ({"odd": compute("two")}, "expected a number as count"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(nodes: dict[str, Any], why: str) -> None:
    with pytest.raises(TemplateError, match=why):
        wanted(template(nodes))


def test_template_may_be_json_or_yaml() -> None:
    assert load(HEAD) == load('{"tosca_definitions_version": "tosca_simple_yaml_1_0"}')


@pytest.mark.parametrize("text", ["", "a: [", "not: tosca", "[]"])
def test_what_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(TemplateError):
        load(text)
