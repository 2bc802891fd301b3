"""Policies by real connections: what operators and agents need passes, what they do not is refused.

That every sample came true before is the first half of it: operators, tunnels, chains and devices
did all their work with enforced policies. The second half are connections that nobody needs, each
to an address at which a program listens, or would be refused in other words if none did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from cluster.connections import PASSED, PROHIBITED, PodUser, Target, port
from cluster.user import User
from quintant.operators import OPERATORS
from quintant.operators.klight.api import LABEL
from realcluster.install import DEPLOY
from realcluster.kubectl import all_of
from realcluster.layout import CONTROL_PLANE, DNS_SERVICE, KUBERNETES_SERVICE
from realcluster.samples import SAMPLES, Outcome

API_SERVER = Target("TCP", KUBERNETES_SERVICE, 443)
DNS = Target("TCP", DNS_SERVICE, 53)
BESIDE = Target("TCP", CONTROL_PLANE, 8181)
"""CoreDNS says there that it is ready: no pod, no API server, no DNS."""
DATAGRAMS = Target("UDP", CONTROL_PLANE, 8181)
PROBES, UNUSED = 8081, 7
AGENTS = {
    "klight": "klight/peers/networkpolicy.yaml",
    "portal": "portal/agents/networkpolicy.yaml",
    "cosmos": "cosmos/agents/networkpolicy.yaml",
}
"""The policies of pods in namespaces of users, which a user applies there."""
Pod = dict[str, Any]


@pytest.fixture(scope="module")
def pods(user: User, samples: Mapping[str, Outcome]) -> list[Pod]:
    """Every pod, once the policies of agents are applied in the namespaces of samples."""

    async def applied() -> list[Pod]:
        for operator, file in AGENTS.items():
            home = f"--namespace={SAMPLES[operator].namespace}"
            await user.kubectl("apply", home, f"--filename={DEPLOY / file}")
        items: list[Pod] = (await user.kubectl.get("pods", "--all-namespaces"))["items"]
        return [pod for pod in items if pod["status"]["phase"] == "Running"]

    return asyncio.run(applied())


def operator_pod(pods: list[Pod], operator: str) -> Pod:
    program = OPERATORS[operator]
    name = {"app.kubernetes.io/name": program.name}
    return next(
        pod
        for pod in pods
        if pod["metadata"]["namespace"] == program.namespace
        and name.items() <= pod["metadata"]["labels"].items()
    )


def stranger(pods: list[Pod]) -> Pod:
    """A pod that no policy is about: the web program behind portal's sample."""
    return next(
        pod
        for pod in pods
        if pod["metadata"]["namespace"] == SAMPLES["portal"].namespace
        and pod["metadata"]["name"].startswith("web-")
    )


def agent_pods(pods: list[Pod], operator: str) -> list[Pod]:
    """The pods of users' objects that a policy is about."""
    keys = {
        "klight": LABEL,
        "portal": "app.kubernetes.io/managed-by",
        "cosmos": "app.kubernetes.io/created-by",
        "shifu": "shifu.edgenesis.io/edgedevice-uid",
    }
    homes = {SAMPLES[operator].namespace, *OPERATORS[operator].namespaces}
    return [
        pod
        for pod in pods
        if pod["metadata"]["namespace"] in homes
        and keys[operator] in pod["metadata"].get("labels", {})
    ]


def check(user: User, pod: Pod, *, passing: list[Target], refused: list[Target]) -> None:
    """Every connection of the one kind passes, none of the other."""

    async def connect() -> None:
        wanted = [*passing, *refused]
        outcomes = await PodUser(user.kubectl).connect(pod, wanted)
        became = dict(zip(wanted, outcomes, strict=True))
        name = pod["metadata"]["name"]
        assert {each: became[each] for each in passing if became[each] not in PASSED} == {}, name
        assert {each: became[each] for each in refused if became[each] != PROHIBITED} == {}, name

    asyncio.run(connect())


def test_an_operator_reaches_what_it_needs_and_nothing_else(user: User, pods: list[Pod]) -> None:
    web = Target("TCP", stranger(pods)["status"]["podIP"], 8080)
    admin = port(agent_pods(pods, "portal")[0], "admin")
    rpc = port(agent_pods(pods, "cosmos")[0], "rpc")
    peer = port(agent_pods(pods, "klight")[0], "klight")
    needed: dict[str, list[Target]] = {
        "cosmos": [rpc], "infra": [web, BESIDE], "klight": [peer], "portal": [admin], "shifu": [],
    }  # fmt: skip
    refused: dict[str, list[Target]] = {
        "cosmos": [BESIDE, DATAGRAMS],
        "infra": [DATAGRAMS],
        "klight": [BESIDE, DATAGRAMS],
        "portal": [web, BESIDE, DATAGRAMS],
        "shifu": [web, admin, rpc, BESIDE, DATAGRAMS],
    }
    for operator in OPERATORS:
        pod = operator_pod(pods, operator)
        passing = [DNS, API_SERVER, *needed[operator]]
        check(user, pod, passing=passing, refused=refused[operator])


def test_an_operator_is_reached_by_those_who_need_it_and_by_no_others(
    user: User, pods: list[Pod]
) -> None:
    all_operators = {name: operator_pod(pods, name) for name in OPERATORS}
    scraped = [port(pod, "metrics") for pod in all_operators.values()]
    webhook = port(all_operators["portal"], "webhook")
    repair = Target("TCP", all_operators["klight"]["status"]["podIP"], 9082)
    addresses = [pod["status"]["podIP"] for pod in all_operators.values()]
    refused = [Target("TCP", each, number) for each in addresses for number in (PROBES, UNUSED)]
    check(user, stranger(pods), passing=[*scraped, webhook, repair], refused=refused)


def test_an_agent_is_reached_by_those_who_need_it_and_by_no_others(
    user: User, pods: list[Pod]
) -> None:
    tunnel, node, peer, device = (
        agent_pods(pods, name)[0] for name in ("portal", "cosmos", "klight", "shifu")
    )
    admin, health = port(tunnel, "admin"), port(node, "healthcheck")
    unused = [Target("TCP", pod["status"]["podIP"], UNUSED) for pod in (tunnel, node, device)]
    check(user, operator_pod(pods, "portal"), passing=[admin], refused=[])
    check(user, operator_pod(pods, "cosmos"), passing=[health], refused=[])
    check(
        user,
        stranger(pods),
        passing=[port(node, "rpc"), port(device, "http")],
        refused=[admin, health, port(peer, "klight"), *unused],
    )


def test_what_is_no_pod_scrapes_no_metrics(user: User, pods: list[Pod]) -> None:
    """This test is in the network beside the cluster, as the API server is."""

    async def attempt(target: Target) -> str:
        try:
            _, writer = await asyncio.open_connection(target.address, target.port)
        except OSError as error:
            return str(error)
        writer.close()
        return "open"

    async def attempts(names: list[str], targets: list[Target]) -> dict[str, str]:
        return dict(zip(names, await all_of(map(attempt, targets)), strict=True))

    operators = {name: operator_pod(pods, name) for name in OPERATORS}
    scraped = [port(pod, "metrics") for pod in operators.values()]
    became = asyncio.run(attempts(list(operators), scraped))
    assert {name: each for name, each in became.items() if each == "open"} == {}
    webhook = port(operators["portal"], "webhook")
    assert asyncio.run(attempts(["webhook"], [webhook])) == {"webhook": "open"}
