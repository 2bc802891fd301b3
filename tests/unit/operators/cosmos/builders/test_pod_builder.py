"""The pod of a node: containers, order, merge, versions and overrides are the original's."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.operators.cosmos.builders.pod_builder import PodInputs, build_pod
from unit.operators.cosmos.full_nodes import full_node, instance

TOOLS = Tools("tools:1")
INIT = [
    "clean-init", "chain-init", "genesis-init", "addrbook-init", "config-merge", "version-check",
]  # fmt: skip

Plain = dict[str, Any]


def spec(height: int = 0, at: int = 0, **given: Any) -> Plain:
    of = full_node(**given)
    pod = build_pod(of, instance(of, at), PodInputs("sum", height), TOOLS)
    assert pod is not None
    found: Plain = pod.spec.value
    return found


def names(of: list[Plain]) -> list[str]:
    return [each["name"] for each in of]


def named(of: list[Plain], name: str) -> Plain:
    return next(each for each in of if each["name"] == name)


def test_the_generated_pod_is_the_originals() -> None:
    found = spec(chain={"skipInvariants": True, "logLevel": "debug", "logFormat": "json"})
    assert names(found["containers"]) == ["node", "healthcheck"]
    assert names(found["initContainers"]) == INIT
    assert names(found["volumes"]) == [
        "vol-chain-home", "vol-tmp", "vol-config", "vol-system-tmp",
    ]  # fmt: skip
    node = found["containers"][0]
    assert node["command"] == ["gaiad"]
    assert node["args"] == [
        "start", "--home", "/home/operator/cosmos", "--x-crisis-skip-assert-invariants",
        "--log_level", "debug", "--log_format", "json",
    ]  # fmt: skip
    assert [(each["name"], each["containerPort"]) for each in node["ports"]] == [
        ("api", 1317), ("rosetta", 8080), ("grpc", 9090), ("prometheus", 26660), ("p2p", 26656),
        ("rpc", 26657), ("grpc-web", 9091),
    ]  # fmt: skip
    assert [each["name"] for each in node["env"]] == [
        "HOME", "CHAIN_HOME", "GENESIS_FILE", "ADDRBOOK_FILE", "CONFIG_DIR", "DATA_DIR",
    ]  # fmt: skip
    assert found["securityContext"]["fsGroup"] == 1025
    assert (found["hostname"], found["subdomain"]) == ("hub-0", "hub")
    assert found["serviceAccountName"] == "hub-vc-sa"
    assert found["terminationGracePeriodSeconds"] == 30
    config = named(found["volumes"], "vol-config")["configMap"]
    assert [each["key"] for each in config["items"]] == [
        "config-overlay.toml", "app-overlay.toml", "node_key.json",
    ]  # fmt: skip
    health = found["containers"][1]
    assert health["command"] == ["quintant", "agent", "cosmosnode"]
    assert health["args"] == ["healthcheck", "--rpc-host", "http://localhost:26657"]
    assert health["volumeMounts"] == [
        {"name": "vol-chain-home", "mountPath": "/home/operator/cosmos", "readOnly": True}
    ]


def probes(found: Plain) -> list[str]:
    return [each["name"] for each in found["containers"] if "readinessProbe" in each]


@pytest.mark.parametrize(
    ("given", "probed"),
    [
        ({}, ["node", "healthcheck"]),
        ({"pod": {"probes": {"strategy": "InSync"}}}, ["node", "healthcheck"]),
        ({"pod": {"probes": {"strategy": "Reachable"}}}, ["node"]),
        ({"pod": {"probes": {"strategy": "None"}}}, []),
        ({"type": "Sentry"}, []),
        ({"type": "Sentry", "pod": {"probes": {"strategy": "Reachable"}}}, ["node"]),
    ],
)
def test_probes_are_as_asked_for_and_a_sentry_has_none_by_itself(
    given: Plain, probed: list[str]
) -> None:
    assert probes(spec(**given)) == probed


def test_probes_fail_after_so_many_times() -> None:
    found = spec()
    node, health = (each["readinessProbe"] for each in found["containers"])
    assert (node["httpGet"]["path"], node["failureThreshold"]) == ("/health", 5)
    assert (health["httpGet"]["port"], health["failureThreshold"]) == (1251, 3)


def test_a_sentry_waits_for_its_signer() -> None:
    node = spec(type="Sentry")["containers"][0]
    assert node["command"] == ["sh"]
    assert node["args"][1].startswith("sleep 10\ngaiad start --home")
    assert len(node["ports"]) == 8
    at_once = spec(type="Sentry", chain={"privvalSleepSeconds": 0})["containers"][0]
    assert at_once["command"] == ["gaiad"]


def test_what_is_fetched_is_fetched_by_script_before_url() -> None:
    chain = {"genesisURL": "https://x/g.json", "genesisScript": "echo mine", "snapshotURL":
             "https://x/s.tar.lz4", "addrbookURL": "https://x/a.json"}  # fmt: skip
    found = spec(chain=chain)["initContainers"]
    assert names(found) == [*INIT[:-1], "snapshot-restore", "version-check"]
    genesis = named(found, "genesis-init")
    assert genesis["command"] == ["sh"]
    assert "echo mine" in genesis["args"][1]
    assert named(found, "snapshot-restore")["args"] == [
        "fetch", "snapshot", "--url", "https://x/s.tar.lz4",
    ]  # fmt: skip
    assert named(found, "addrbook-init")["args"][1:] == ["addrbook", "--url", "https://x/a.json"]


def test_a_chain_is_initialised_into_its_home_once_and_beside_it_always() -> None:
    init = named(spec(chain={"additionalInitArgs": ["--x"]})["initContainers"], "chain-init")
    assert init["image"] == "gaia:v1.2.3"
    script = init["args"][1]
    assert 'gaiad init --chain-id cosmoshub-4 hub-0 --x --home "$CHAIN_HOME"' in script
    assert script.endswith('gaiad init --chain-id cosmoshub-4 hub-0 --x --home "$HOME/.tmp"\n')


@pytest.mark.parametrize(
    ("patch", "order"),
    [
        (["node", "new-sidecar"], ["node", "new-sidecar", "healthcheck"]),
        (["new-sidecar"], ["new-sidecar", "node", "healthcheck"]),
        (["pd"], ["pd", "node", "healthcheck"]),
    ],
)
def test_containers_are_merged_in_the_originals_order(patch: list[str], order: list[str]) -> None:
    found = spec(pod={"containers": [{"name": name, "image": "x"} for name in patch]})
    assert names(found["containers"]) == order


def test_a_patch_of_a_command_keeps_the_generated_arguments() -> None:
    found = spec(pod={"containers": [{"name": "node", "command": ["cosmovisor", "run"]}],
                      "initContainers": [{"name": "chain-init", "args": ["-c", "true"]},
                                         {"name": "pd-move", "image": "pd"}],
                      "volumes": [{"name": "mine", "emptyDir": {}}],
                      "tolerations": [{"operator": "Exists"}]})  # fmt: skip
    node = named(found["containers"], "node")
    assert (node["command"], node["args"][0]) == (["cosmovisor", "run"], "start")
    assert names(found["initContainers"]) == [
        "clean-init", "chain-init", "pd-move", *INIT[2:],
    ]  # fmt: skip
    assert "mine" in names(found["volumes"])
    assert found["tolerations"] == [{"operator": "Exists"}]


VERSIONS = [
    {"height": 0, "image": "v1"}, {"height": 100, "image": "v2"},
    {"height": 300, "image": "v3", "containers": {"side": "s3"}}, {"height": 400, "image": "v4"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("height", "node", "side"),
    [(1, "v1", "s0"), (100, "v2", "s0"), (150, "v2", "s0"), (300, "v3", "s3"), (400, "v4", "s0")],
)
def test_images_are_those_of_the_height(height: int, node: str, side: str) -> None:
    found = spec(height, chain={"versions": VERSIONS},
                 pod={"containers": [{"name": "side", "image": "s0"}]})  # fmt: skip
    assert named(found["containers"], "node")["image"] == node
    assert named(found["initContainers"], "chain-init")["image"] == node
    assert named(found["containers"], "side")["image"] == side
    assert names(found["containers"])[-1] == "version-check-interval"


def test_the_version_label_is_of_the_image_that_runs() -> None:
    of = full_node(chain={"versions": [{"height": 0, "image": "gaia:v9"}]})
    pod = build_pod(of, instance(of), PodInputs("sum", 5), TOOLS)
    assert pod is not None
    assert pod.metadata.labels["app.kubernetes.io/version"] == "v9"
    assert pod.metadata.annotations["cosmos.strange.love/config-checksum"] == "sum"


def test_an_instance_may_have_another_image_or_no_pod() -> None:
    given = {"hub-1": {"image": "mine:1", "nodeSelector": {"disk": "fast"}},
             "hub-2": {"disable": "Pod"}}  # fmt: skip
    of = full_node(instanceOverrides=given)
    found = spec(at=1, instanceOverrides=given)
    assert named(found["containers"], "node")["image"] == "mine:1"
    assert found["nodeSelector"] == {"disk": "fast"}
    assert spec(at=0, instanceOverrides=given)["containers"][0]["image"] == "gaia:v1.2.3"
    assert build_pod(of, instance(of, 2), PodInputs("sum"), TOOLS) is None


def test_no_key_material_is_in_a_pod() -> None:
    assert "priv_key" not in str(spec())
