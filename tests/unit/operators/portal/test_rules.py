"""Every rule of the contract is found broken, with the field that breaks it."""

from __future__ import annotations

import pytest

from quintant.api.scheduling import Toleration
from quintant.operators.portal.api import (
    App,
    PortalExposeSpec,
    RelaySpec,
    RelayTarget,
    ServiceRef,
    TunnelClassSpec,
)
from quintant.operators.portal.rules import (
    is_address,
    public_url,
    relay_host,
    validate_class,
    validate_expose,
)


def spec(
    app: str = "my-app", service: str = "web", port: int = 80, **relays: str
) -> PortalExposeSpec:
    targets = relays or {"one": "wss://portal.gosuda.org/relay"}
    return PortalExposeSpec(
        app=App(name=app, service=ServiceRef(name=service, port=port)),
        relay=RelaySpec(
            targets=tuple(RelayTarget(name=name, url=url) for name, url in targets.items())
        ),
    )


def test_spec_of_the_contract_is_right() -> None:
    assert not list(validate_expose(spec()))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (spec(app="My_App"), "spec.app.name"),
        (spec(app="a" * 64), "spec.app.name"),
        (spec(service="9web"), "spec.app.service.name"),
        (spec(port=0), "spec.app.service.port"),
        (spec(port=65536), "spec.app.service.port"),
        (spec(one="https://relay.example.com"), "spec.relay.targets[0].url"),
        (spec(one="wss://"), "spec.relay.targets[0].url"),
        (spec(one="wss://relay.example.com:port/"), "spec.relay.targets[0].url"),
        (spec(one="wss://relay.example.com/#x"), "spec.relay.targets[0].url"),
    ],
)
def test_broken_rule_is_found_at_its_field(given: PortalExposeSpec, field: str) -> None:
    assert [cause.field for cause in validate_expose(given)] == [field]


def test_every_broken_rule_is_told_at_once() -> None:
    assert len(list(validate_expose(spec(app="-", port=0, one="ws://x")))) == 3


def test_password_in_a_url_is_refused_and_not_repeated() -> None:
    (cause,) = validate_expose(spec(one="wss://me:geheim@relay.example.com/"))
    assert "authSecretRef" in cause.message
    assert "geheim" not in cause.message


def test_relays_of_one_name_are_refused() -> None:
    target = RelayTarget(name="one", url="wss://relay.example.com")
    given = PortalExposeSpec(app=spec().app, relay=RelaySpec(targets=(target, target)))
    found = [cause.field for cause in validate_expose(given)]
    assert found == ["spec.relay.targets[0].name", "spec.relay.targets[1].name"]


@pytest.mark.parametrize(
    ("url", "app", "public"),
    [
        ("wss://portal.gosuda.org/relay", "my-app", "https://my-app.portal.gosuda.org"),
        ("wss://relay.example.com:8443/connect", "test", "https://test.relay.example.com:8443"),
        ("wss://simple.com", "demo", "https://demo.simple.com"),
        ("wss://SIMPLE.com:443/?x=1", "demo", "https://demo.simple.com"),
        ("wss://10.0.0.1/relay", "demo", ""),
        ("wss://[::1]:8443/relay", "demo", ""),
    ],
)
def test_public_url_is_the_app_before_the_relay(url: str, app: str, public: str) -> None:
    assert public_url(app, RelayTarget(name="one", url=url)) == public


def test_address_is_no_name() -> None:
    assert is_address("wss://10.0.0.1/")
    assert not is_address("wss://relay.localhost/")
    assert relay_host("wss://[::1]:8443/") == "[::1]:8443"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (TunnelClassSpec(replicas=0, size="small"), "spec.replicas"),
        (TunnelClassSpec(replicas=1, size="huge"), "spec.size"),  # type: ignore[arg-type]
        (
            TunnelClassSpec(replicas=1, size="small", node_selector={"a b": "c"}),
            "spec.nodeSelector",
        ),
        (
            TunnelClassSpec(
                replicas=1, size="small", tolerations=(Toleration(key="a", operator="X"),)
            ),
            "spec.tolerations[0]",
        ),
        (
            TunnelClassSpec(replicas=1, size="small", tolerations=(Toleration(),)),
            "spec.tolerations[0]",
        ),
    ],
)
def test_broken_rule_of_a_class_is_found(given: TunnelClassSpec, field: str) -> None:
    assert [cause.field for cause in validate_class(given)] == [field]
