"""Every flag of a real kube-apiserver is honoured, of no consequence, or refused by its name."""

from __future__ import annotations

from ipaddress import IPv4Network
from pathlib import Path

import pytest

from quintant.cli.envtest.apiserver_flags import (
    HONOURED,
    INNER,
    UNCHANGED,
    WORDS,
    ApiServerFlags,
    read_apiserver_flags,
)
from quintant.cli.envtest.flag_set import FlagError, parse_flags
from quintant.cli.envtest.known_words import APISERVER_FLAGS
from quintant.core.address import BindAddress

CONTROLLER_RUNTIME = (
    "--allow-privileged=true",
    "--authorization-mode=RBAC",
    "--bind-address=127.0.0.1",
    "--cert-dir=/certs",
    "--client-ca-file=/certs/client-cert-auth-ca.crt",
    "--disable-admission-plugins=ServiceAccount",
    "--etcd-servers=http://127.0.0.1:2379",
    "--secure-port=7001",
    "--service-account-issuer=https://127.0.0.1:7001/",
    "--service-account-key-file=/certs/sa-signer.crt",
    "--service-account-signing-key-file=/certs/sa-signer.key",
    "--service-cluster-ip-range=10.0.0.0/24",
)
"""What controller-runtime's envtest passes."""
JAVA = (
    *("--cert-dir", "/certs", "--secure-port", "7001", "--etcd-servers", "http://0.0.0.0:2379"),
    *("--authorization-mode", "RBAC", "--service-account-issuer", "https://localhost"),
    *("--service-account-signing-key-file", "/certs/apiserver.key"),
    *("--service-account-signing-key-file", "/certs/apiserver.key"),
    *("--service-account-key-file", "/certs/apiserver.key"),
    *("--service-account-issuer", "/certs/apiserver.crt"),
    *("--disable-admission-plugins", "ServiceAccount", "--client-ca-file", "/certs/client.crt"),
    *("--service-cluster-ip-range", "10.0.0.0/24", "--allow-privileged"),
)
"""What the test kit of the Java operator SDK passes: words apart, and one issuer that is none."""


def read(*more: str, base: tuple[str, ...] = CONTROLLER_RUNTIME) -> ApiServerFlags:
    return read_apiserver_flags(parse_flags([*base, *more], WORDS))


def refusal(*more: str, base: tuple[str, ...] = CONTROLLER_RUNTIME) -> str:
    with pytest.raises(FlagError) as refused:
        read(*more, base=base)
    return str(refused.value)


@pytest.mark.parametrize("base", [CONTROLLER_RUNTIME, JAVA], ids=["go", "java"])
def test_what_test_kits_pass_is_understood(base: tuple[str, ...]) -> None:
    flags = read(base=base)
    assert flags.address == BindAddress("127.0.0.1", 7001)
    assert flags.client_authority is not None
    assert flags.client_authority.parent == flags.certificates == Path("/certs")
    assert flags.services == IPv4Network("10.0.0.0/24")
    assert flags.disabled == {"ServiceAccount", "ResourceQuota"}
    assert (flags.prefix, flags.serving, flags.tokens) == ("/registry", None, None)


def test_every_other_flag_of_a_real_server_is_refused_by_name() -> None:
    others = sorted(APISERVER_FLAGS - set(HONOURED) - INNER - set(UNCHANGED))
    assert len(others) > 100
    for name in others:
        assert refusal(f"--{name}=x").startswith(f"--{name} is not supported here"), name


@pytest.mark.parametrize("name", sorted({*HONOURED, *INNER, *UNCHANGED}))
def test_what_is_taken_is_a_flag_of_a_real_server(name: str) -> None:
    assert name in APISERVER_FLAGS


@pytest.mark.parametrize("name", sorted(INNER))
def test_what_is_about_the_inside_is_taken(name: str) -> None:
    assert read(f"--{name}=1") == read()


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--secure-port=abc", 'invalid argument "abc" for "--secure-port" flag: strconv.ParseInt'),
        ("--secure-port=0", "--secure-port 0 must be between 1 and 65535, inclusive"),
        ("--bind-address=zzz", 'argument "zzz" for "--bind-address" flag: failed to parse IP'),
        ("--service-cluster-ip-range=zzz", '"zzz" for "--service-cluster-ip-range" flag'),
        ("--service-cluster-ip-range=fd00::/108", '"fd00::/108" for "--service-cluster-ip-range"'),
        (
            "--service-cluster-ip-range=10.0.0.0/30",
            '"10.0.0.0/30" for "--service-cluster-ip-range"',
        ),
        ("--authorization-mode=AlwaysAllow", "--authorization-mode=RBAC,AlwaysAllow is not supp"),
        ("--allow-privileged=false", "--allow-privileged=false is not supported here"),
        ("--anonymous-auth=false", "--anonymous-auth=false is not supported here"),
        ("--request-timeout=5s", "--request-timeout=5s is not supported here: it is 1m0s"),
        ("--api-audiences=other", "--api-audiences is not supported here but for the issuers"),
        ("--etcd-servers=http://b:1", "http://127.0.0.1:2379,http://b:1 is not supported here"),
        ("--service-account-issuer=:::", "\":::\" contained a ':' but was not a valid URL"),
        ("--tls-cert-file=/a", "--tls-cert-file and --tls-private-key-file need each other"),
        (
            "--disable-admission-plugins=Nope",
            '--disable-admission-plugins plugin "Nope" is unknown',
        ),
        ("--enable-admission-plugins=ServiceAccount", "[ServiceAccount] in --enable-admission"),
        ("--feature-gates=Nope=true", "unrecognized feature gate: Nope"),
        ("--runtime-config=api/all=true", "--runtime-config=api/all=true is not supported here"),
        ("--audit-log-path=-", "--audit-log-path is not supported here"),
    ],
)
def test_what_cannot_be_honoured_is_named(flag: str, why: str) -> None:
    assert why in refusal(flag)


def test_what_is_missing_is_named_all_at_once() -> None:
    assert refusal(base=()) == (
        "[--etcd-servers must be specified, --service-account-issuer is a required flag, "
        "--service-account-key-file must be set, "
        "--service-account-signing-key-file is a required flag]"
    )


@pytest.mark.parametrize(
    ("flag", "named"),
    [
        ("--secure-port=abc", '"--secure-port"'),
        ("--bind-address=zzz", '"--bind-address"'),
        ("--service-cluster-ip-range=zzz", '"--service-cluster-ip-range"'),
        ("--tls-private-key-file=/a", "--tls-private-key-file"),
    ],
)
def test_a_value_that_is_none_is_named_before_what_is_missing(flag: str, named: str) -> None:
    assert named in refusal(flag, base=())


def test_a_server_without_roles_is_not_started() -> None:
    base = tuple(flag for flag in CONTROLLER_RUNTIME if "authorization-mode" not in flag)
    assert refusal(base=base).startswith("--authorization-mode=AlwaysAllow is not supported here")


def test_the_first_issuer_signs_and_all_are_believed() -> None:
    assert read(base=JAVA).issuers == ("https://localhost", "/certs/apiserver.crt")


def test_a_server_that_is_told_nothing_listens_to_this_machine_only() -> None:
    base = tuple(flag for flag in CONTROLLER_RUNTIME if "bind-address" not in flag)
    assert read(base=base).address.host == "127.0.0.1"


def test_what_is_fixed_may_be_said() -> None:
    assert read("--request-timeout=60s", "--api-audiences=https://127.0.0.1:7001/") == read()


def test_help_has_no_insecure_port_for_who_looks_for_one() -> None:
    assert not any("insecure" in name for name in HONOURED)
