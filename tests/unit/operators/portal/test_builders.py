"""The Deployment of the tunnels is what the contract says, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.agents.tunnel.options import parse
from quintant.api.core import Service, ServicePort, ServiceSpec
from quintant.api.scheduling import Toleration
from quintant.core.codec import to_plain
from quintant.core.object import ObjectMeta, replace
from quintant.operators.portal.api import (
    KEY_TYPE,
    TARGET_TLS,
    App,
    ConfigMapKey,
    PortalExpose,
    PortalExposeSpec,
    RateLimit,
    RateLimits,
    RelaySpec,
    RelayTarget,
    SecretKey,
    ServiceRef,
    TunnelClass,
    TunnelClassSpec,
)
from quintant.operators.portal.builders import (
    Tunnels,
    deployment,
    deployment_name,
    key_name,
    key_secret,
    labels,
)
from quintant.operators.portal.builders import target_tls as tls
from quintant.wire import portal

TUNNELS = Tunnels("portal-tunnel:1")
CLASS = TunnelClass(
    metadata=ObjectMeta(name="default"),
    spec=TunnelClassSpec(
        replicas=3,
        size="medium",
        node_selector={"workload-type": "tunnel"},
        tolerations=(Toleration(key="dedicated", operator="Exists"),),
    ),
)
RELAYS = (
    RelayTarget(name="one", url="wss://one.example.com/relay"),
    RelayTarget(
        name="two",
        url="wss://two.example.com/relay",
        auth_secret_ref=SecretKey(name="keys"),
        ca_config_map_ref=ConfigMapKey(name="trust"),
    ),
)


def expose(name: str = "shop", port: int = 80, target: str = "") -> PortalExpose:
    noted = {TARGET_TLS: target} if target else {}
    meta = ObjectMeta(name=name, namespace="store", uid="u-1", annotations=noted)
    app = App(name="shop", service=ServiceRef(name="web", port=port))
    return PortalExpose(
        metadata=meta, spec=PortalExposeSpec(app=app, relay=RelaySpec(targets=RELAYS))
    )


def service(**port: Any) -> Service:
    given = ServicePort(**{"port": 80, **port})
    return Service(metadata=ObjectMeta(name="web"), spec=ServiceSpec(ports=(given,)))


def built(given: PortalExpose | None = None) -> dict[str, Any]:
    return to_plain(deployment(given or expose(), CLASS, service(), TUNNELS))


def container() -> dict[str, Any]:
    (found,) = built()["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def env() -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container()["env"]}


def test_deployment_is_named_after_its_expose_and_shaped_by_its_class() -> None:
    made = built()
    assert (made["metadata"]["name"], made["metadata"]["namespace"]) == ("shop-tunnel", "store")
    assert made["spec"]["replicas"] == 3
    pod = made["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"workload-type": "tunnel"}
    assert pod["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]
    assert container()["resources"] == {
        "requests": {"cpu": "250m", "memory": "256Mi"},
        "limits": {"cpu": "1000m", "memory": "1Gi"},
    }


def test_selector_is_the_contracts_four_labels() -> None:
    made = built()
    assert made["spec"]["selector"]["matchLabels"] == {
        "app.kubernetes.io/name": "portal-tunnel",
        "app.kubernetes.io/component": "tunnel",
        "app.kubernetes.io/managed-by": "portal-expose-controller",
        "portal.gosuda.org/portalexpose": "shop",
    }
    assert labels("shop").items() <= made["spec"]["template"]["metadata"]["labels"].items()


def test_agent_is_told_what_to_expose_through_which_relays() -> None:
    assert container()["args"] == [
        *("expose", "--name", "shop"),
        *("--host", "web.store.svc.cluster.local", "--port", "80"),
        *("--relay", "wss://one.example.com/relay", "--relay", "wss://two.example.com/relay"),
    ]
    assert env()["PORTAL_GROUP"] == "u-1"
    assert '"name":"two"' in env()["PORTAL_RELAYS"]


def test_token_is_referred_to_and_only_where_there_is_one() -> None:
    assert env()["PORTAL_TOKEN_1"] == {
        "secretKeyRef": {"name": "keys", "key": "token", "optional": False}
    }
    assert "PORTAL_TOKEN_0" not in env()


def test_authority_of_a_relay_is_mounted() -> None:
    (volume,) = built()["spec"]["template"]["spec"]["volumes"]
    assert volume["projected"]["sources"] == [
        {"configMap": {"name": "trust", "items": [{"key": "ca.crt", "path": "1.crt"}]}}
    ]
    assert env()["PORTAL_CA_DIR"] == container()["volumeMounts"][0]["mountPath"]


def test_tunnel_has_no_privileges_and_no_token_of_the_cluster() -> None:
    pod = built()["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsGroup"] > 0
    assert container()["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_life_does_not_depend_on_relays_and_readiness_does() -> None:
    assert container()["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container()["readinessProbe"]["httpGet"]["path"] == "/readyz"


@pytest.mark.parametrize(
    ("given", "port", "spoken"),
    [
        (expose(), {}, "off"),
        (expose(port=443), {"port": 443}, "insecure"),
        (expose(), {"name": "https-web"}, "insecure"),
        (expose(), {"name": "http"}, "off"),
        (expose(), {"app_protocol": "https"}, "insecure"),
        (expose(target="verify"), {}, "verify"),
        (expose(port=443, target="off"), {"port": 443}, "off"),
        (expose(target="nonsense"), {}, "off"),
    ],
)
def test_service_is_spoken_to_as_its_port_says(
    given: PortalExpose, port: dict[str, Any], spoken: str
) -> None:
    assert tls(given, service(**port)) == spoken


@pytest.mark.parametrize("length", [63, 64, 200, 253])
def test_long_names_are_cut_and_stay_apart(length: int) -> None:
    first, second = "a" * length, "a" * (length - 1) + "b"
    for name in (first, second):
        assert len(labels(name)["portal.gosuda.org/portalexpose"]) <= 63
        assert len(deployment_name(name)) <= 253
    assert labels(first) != labels(second)
    assert deployment_name(first) != deployment_name(second)


def test_same_declaration_gives_the_same_deployment() -> None:
    other = replace(expose(), metadata=replace(expose().metadata, resource_version="7"))
    assert built() == built(other)


def test_an_image_that_tells_nothing_is_neither_probed_nor_told_what_it_does_not_know() -> None:
    silent = Tunnels("ghcr.io/gosuda/portal-tunnel:1.0.0", silent=True)
    made = to_plain(deployment(expose(), CLASS, service(), silent))
    pod = made["spec"]["template"]["spec"]
    (found,) = pod["containers"]
    assert found.keys() == {"name", "image", "args", "resources", "securityContext"}
    assert found["args"][-2:] == [
        "--relay",
        "wss://one.example.com/relay,wss://two.example.com/relay",
    ]
    assert "volumes" not in pod


def test_tunnels_share_the_key_of_their_expose() -> None:
    wanted = {"name": "shop-tunnel-key", "key": "key", "optional": False}
    assert env()["PORTAL_KEY"] == {"secretKeyRef": wanted}


def test_a_key_is_a_secret_of_its_own_type_that_nobody_changes() -> None:
    made = key_secret(expose(), bytes(32))
    assert (made.metadata.name, made.metadata.namespace) == ("shop-tunnel-key", "store")
    assert (made.type, made.immutable) == (KEY_TYPE, True)
    assert len(key_name("x" * 253)) <= 253
    assert "AAAA" not in repr(made)


def test_rate_limits_reach_the_tunnels_as_relays_read_them() -> None:
    limits = RateLimits(
        per_visitor=RateLimit(requests_per_second=10, burst=50),
        per_exposure=RateLimit(requests_per_second=500),
    )
    limited = replace(CLASS, spec=replace(CLASS.spec, rate_limits=limits))
    service = Service(metadata=ObjectMeta(name="web"), spec=ServiceSpec())
    made = deployment(expose(), limited, service, TUNNELS)
    (container,) = to_plain(made)["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("value", "") for each in container["env"]}
    assert parse(["expose", "--name", "a", "--host", "b", "--port", "1"], env).limits == (
        portal.RequestRates(portal.RequestRate(10, 50), portal.RequestRate(500, 500))
    )
