"""Operators and agents are reached by whom they need, and reach what they need."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core import codec
from quintant.operators import OPERATORS, AgentPods, manager_of
from quintant.operators.cosmos.api import BELONGS_TO_LABEL, OURS
from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.instances import instances
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from quintant.operators.klight.options import Options as KlightOptions
from quintant.operators.network_policy import agent_policy, operator_policy
from quintant.operators.portal.builders import ADMIN_PORT, TUNNEL_LABELS
from quintant.operators.shifu.api.names import DEVICE_UID_LABEL
from testbeds.kustomize import DEPLOY, kustomization
from unit.operators.cosmos.full_nodes import full_node

LINK_LOCAL = {"169.254.0.0/16", "fe80::/10"}


def spec_of(name: str) -> dict[str, Any]:
    webhooks = bool(manager_of(name).webhooks)
    policy = operator_policy(OPERATORS[name], OPERATORS[name].namespace, webhooks=webhooks)
    found: dict[str, Any] = codec.to_plain(policy)["spec"]
    return found


def agents_of(name: str) -> list[AgentPods]:
    return list(OPERATORS[name].agents)


def agent_spec(name: str, agents: AgentPods) -> dict[str, Any]:
    found: dict[str, Any] = codec.to_plain(agent_policy(OPERATORS[name], agents))["spec"]
    return found


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_every_installed_operator_has_a_policy_for_its_pods_both_ways(name: str) -> None:
    found = list(kustomization(DEPLOY / name))
    (deployed,) = (each for each in found if each["kind"] == "Deployment")
    labels = deployed["spec"]["template"]["metadata"]["labels"]
    home = deployed["metadata"]["namespace"]
    (policy,) = (
        each["spec"]
        for each in found
        if each["kind"] == "NetworkPolicy" and each["metadata"]["namespace"] == home
    )
    assert policy["podSelector"]["matchLabels"] == labels
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    (container,) = deployed["spec"]["template"]["spec"]["containers"]
    names = {port["name"] for port in container["ports"]}
    served = {port["port"] for rule in policy["ingress"] for port in rule["ports"]}
    assert {each for each in served if isinstance(each, str)} == names - {"probes"}


def test_an_operator_without_webhooks_is_not_reached_from_outside_the_cluster() -> None:
    assert all(rule.get("from") for rule in spec_of("klight")["ingress"])
    (hooks,) = (rule for rule in spec_of("portal")["ingress"] if not rule.get("from"))
    assert hooks["ports"] == [{"protocol": "TCP", "port": "webhook"}]


def test_an_operator_that_only_speaks_to_the_api_server_reaches_nothing_else() -> None:
    ports = [port["port"] for rule in spec_of("shifu")["egress"] for port in rule["ports"]]
    assert ports == [53, 53, 443, 6443]


def test_only_infra_which_speaks_to_clouds_reaches_any_port_outside() -> None:
    outside = [name for name in OPERATORS if "ipBlock" in str(spec_of(name)["egress"])]
    assert outside == ["infra"]


def test_ports_are_those_of_the_programs() -> None:
    assert [each.port for each in OPERATORS["portal"].egress] == [ADMIN_PORT]
    assert OPERATORS["klight"].serves == (KlightOptions().repair_port,)


def test_policies_select_the_pods_that_operators_make() -> None:
    assert [each.labels for each in agents_of("portal")] == [TUNNEL_LABELS]
    assert [(each.labels, each.without) for each in agents_of("cosmos")] == [
        (OURS, BELONGS_TO_LABEL)
    ]
    assert DEVICE_UID_LABEL in agents_of("shifu")[0].labels


@pytest.mark.parametrize("kind", ["FullNode", "Sentry"])
def test_every_port_of_a_full_node_may_be_reached(kind: str) -> None:
    of = full_node(type=kind)
    pod = build_pod(of, next(iter(instances(of))), PodInputs("x"), Tools("tools"))
    assert pod is not None
    containers = codec.to_plain(pod)["spec"]["containers"]
    names = {port["name"] for each in containers for port in each.get("ports", ())}
    assert names <= {*agents_of("cosmos")[0].ports, *agents_of("cosmos")[0].reports}


@pytest.mark.parametrize("name", [name for name in sorted(OPERATORS) if OPERATORS[name].agents])
def test_agents_reach_no_service_of_a_cloud_at_a_link_local_address(name: str) -> None:
    for agents in agents_of(name):
        spec = agent_spec(name, agents)
        without_ports = [rule for rule in spec["egress"] if "ports" not in rule]
        blocks = [
            peer["ipBlock"] for rule in without_ports for peer in rule["to"] if "ipBlock" in peer
        ]
        assert {word for each in blocks for word in each["except"]} == LINK_LOCAL


def test_a_tunnel_reports_to_its_operator_and_is_reached_by_nobody_else() -> None:
    (tunnels,) = agents_of("portal")
    (rule,) = agent_spec("portal", tunnels)["ingress"]
    selector = {"matchLabels": {"app.kubernetes.io/name": "portal"}}
    assert rule["from"] == [{"namespaceSelector": {}, "podSelector": selector}]
    assert [port["port"] for port in rule["ports"]] == ["admin"]
