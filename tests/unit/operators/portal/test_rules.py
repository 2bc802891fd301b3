"""Every rule of the contract is found broken, with the field that breaks it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from quintant.api.scheduling import Toleration
from quintant.core.object import replace
from quintant.operators.portal.api import (
    MOST_NODE_LABELS,
    MOST_RATE,
    MOST_RELAYS,
    MOST_REPLICAS,
    MOST_TOLERATIONS,
    App,
    ConfigMapKey,
    PortalExposeSpec,
    RateLimit,
    RateLimits,
    RelaySpec,
    RelayTarget,
    SecretKey,
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

ANY = Toleration(operator="Exists")


def spec(
    app: str = "my-app", service: str = "web", port: int = 80, **relays: str
) -> PortalExposeSpec:
    named = App(name=app, service=ServiceRef(name=service, port=port))
    return through(relays or {"one": "wss://portal.gosuda.org/relay"}, named)


def through(targets: Mapping[str, str], app: App | None = None) -> PortalExposeSpec:
    return PortalExposeSpec(
        app=app or App(name="my-app", service=ServiceRef(name="web", port=80)),
        relay=RelaySpec(
            targets=tuple(RelayTarget(name=name, url=url) for name, url in targets.items())
        ),
    )


def with_token(name: str, key: str = "") -> PortalExposeSpec:
    ref = SecretKey(name=name, key=key)
    target = RelayTarget(name="one", url="wss://relay.example.com", auth_secret_ref=ref)
    return replace(spec(), relay=RelaySpec(targets=(target,)))


def with_authority(name: str, key: str = "") -> PortalExposeSpec:
    ref = ConfigMapKey(name=name, key=key)
    target = RelayTarget(name="one", url="wss://relay.example.com", ca_config_map_ref=ref)
    return replace(spec(), relay=RelaySpec(targets=(target,)))


def limited(**limits: RateLimit) -> TunnelClassSpec:
    return TunnelClassSpec(replicas=1, size="small", rate_limits=RateLimits(**limits))


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
        (spec(one="wss://relay.example.com/" + "x" * 2048), "spec.relay.targets[0].url"),
        (through({"r" * 64: "wss://relay.example.com"}), "spec.relay.targets[0].name"),
        (through({"": "wss://relay.example.com"}), "spec.relay.targets[0].name"),
        (with_token(""), "spec.relay.targets[0].authSecretRef.name"),
        (with_token("A"), "spec.relay.targets[0].authSecretRef.name"),
        (with_token("a" * 254), "spec.relay.targets[0].authSecretRef.name"),
        (with_token("a", "b c"), "spec.relay.targets[0].authSecretRef.key"),
        (with_token("a", ".."), "spec.relay.targets[0].authSecretRef.key"),
        (with_authority(""), "spec.relay.targets[0].caConfigMapRef.name"),
        (with_authority("a", "b/c"), "spec.relay.targets[0].caConfigMapRef.key"),
        (
            through({f"r{at}": "wss://relay.example.com" for at in range(MOST_RELAYS + 1)}),
            "spec.relay.targets",
        ),
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
        (TunnelClassSpec(replicas=MOST_REPLICAS + 1, size="small"), "spec.replicas"),
        (TunnelClassSpec(replicas=2**63, size="small"), "spec.replicas"),
        (limited(per_visitor=RateLimit(requests_per_second=0)), "spec.rateLimits.perVisitor"),
        (
            limited(per_exposure=RateLimit(requests_per_second=1, burst=MOST_RATE + 1)),
            "spec.rateLimits.perExposure",
        ),
        (
            TunnelClassSpec(replicas=1, size="small", tolerations=(ANY,) * (MOST_TOLERATIONS + 1)),
            "spec.tolerations",
        ),
        (
            TunnelClassSpec(
                replicas=1,
                size="small",
                node_selector={f"l{at}": "" for at in range(MOST_NODE_LABELS + 1)},
            ),
            "spec.nodeSelector",
        ),
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


def test_what_is_wrong_is_told_in_few_words_however_long_it_is() -> None:
    wrong = [*validate_expose(spec(app="x" * 100_000, service="y" * 100_000))]
    wrong += validate_class(
        TunnelClassSpec(replicas=1, size="small", node_selector={"a b" * 50_000: ""})
    )
    assert len(wrong) == 3
    assert all(len(cause.message) < 500 for cause in wrong)


def test_what_the_largest_sizes_say_is_right() -> None:
    given = through({f"r{at}": "wss://relay.example.com" for at in range(MOST_RELAYS)})
    assert not list(validate_expose(given))
    rates = RateLimits(per_visitor=RateLimit(requests_per_second=MOST_RATE, burst=MOST_RATE))
    largest = TunnelClassSpec(
        replicas=MOST_REPLICAS, size="large", rate_limits=rates,
        tolerations=(ANY,) * MOST_TOLERATIONS,
    )  # fmt: skip
    assert not list(validate_class(largest))
