"""The variables of a container, and what it may know of itself."""

from __future__ import annotations

import pytest

from quintant.api.container import (
    Container,
    EnvFromSource,
    EnvSource,
    EnvVar,
    EnvVarSource,
    KeySelector,
    ObjectFieldSelector,
    ResourceFieldSelector,
    ResourceRequirements,
)
from quintant.api.core import ConfigMap, Secret
from quintant.api.pod import Pod, PodSpec
from quintant.api.quantity import Quantity
from quintant.api.service import Service, ServicePort, ServiceSpec
from quintant.cluster.kubelet.container.downward_api import DownwardSource
from quintant.cluster.kubelet.container.env import (
    ContainerConfigError,
    EnvSources,
    env_references,
    make_environment,
)
from quintant.core.address import BindAddress
from quintant.core.object import ObjectMeta

META = ObjectMeta(
    name="p", namespace="ns", uid="u", labels={"a": "1", "b": 'q"'}, annotations={"n": "x"}
)
ABOUT = DownwardSource(
    Pod(metadata=META, spec=PodSpec(service_account_name="sa")),
    "127.42.0.1",
    "127.0.0.1",
    "local",
    {"cpu": Quantity("4"), "memory": Quantity("1Gi")},
)
CONFIG = ConfigMap(metadata=ObjectMeta(name="c"), data={"K": "v", "L": "w"})
SECRET = Secret(metadata=ObjectMeta(name="s"), data={"P": "cGFzcw=="})
WEB = Service(
    metadata=ObjectMeta(name="my-web"),
    spec=ServiceSpec(
        cluster_ip="127.96.0.9",
        ports=(ServicePort(port=80, name="http"), ServicePort(port=53, protocol="UDP")),
    ),
)
SOURCES = EnvSources(BindAddress("127.0.0.1", 7443), {"c": CONFIG}, {"s": SECRET}, (WEB,))


def given(*env: EnvVar, **more: object) -> dict[str, str]:
    container = Container(name="c", env=env, **more)  # type: ignore[arg-type]
    return make_environment(container, ABOUT, SOURCES)


def field(path: str) -> EnvVar:
    source = EnvVarSource(field_ref=ObjectFieldSelector(field_path=path))
    return EnvVar(name="X", value_from=source)


def key(name: str, wanted: str, *, secret: bool = False, optional: bool = False) -> EnvVar:
    selector = KeySelector(name=name, key=wanted, optional=optional)
    config = EnvVarSource(config_map_key_ref=selector)
    return EnvVar(name="X", value_from=EnvVarSource(secret_key_ref=selector) if secret else config)


def test_the_api_server_and_services_are_told() -> None:
    env = given()
    assert env["KUBERNETES_SERVICE_HOST"] == "127.0.0.1"
    assert env["KUBERNETES_SERVICE_PORT"] == "7443"
    assert env["MY_WEB_SERVICE_HOST"] == "127.96.0.9"
    assert env["MY_WEB_SERVICE_PORT_HTTP"] == "80"
    assert env["MY_WEB_PORT"] == "tcp://127.96.0.9:80"
    assert env["MY_WEB_PORT_53_UDP_PROTO"] == "udp"


def test_later_variables_see_earlier_ones() -> None:
    env = given(EnvVar(name="A", value="1"), EnvVar(name="B", value="$(A)-$(C)"))
    assert env["B"] == "1-$(C)"


def test_variables_win_over_sources_and_sources_over_services() -> None:
    sources = (
        EnvFromSource(prefix="MY_WEB_", config_map_ref=EnvSource(name="c")),
        EnvFromSource(config_map_ref=EnvSource(name="c")),
        EnvFromSource(secret_ref=EnvSource(name="s")),
    )
    env = given(EnvVar(name="K", value="mine"), env_from=sources)
    assert (env["K"], env["L"], env["P"], env["MY_WEB_K"]) == ("mine", "w", "pass", "v")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "p"),
        ("metadata.namespace", "ns"),
        ("metadata.uid", "u"),
        ("metadata.labels['a']", "1"),
        ("metadata.annotations['n']", "x"),
        ("metadata.labels['none']", ""),
        ("metadata.labels", 'a="1"\nb="q\\""'),
        ("spec.nodeName", "local"),
        ("spec.serviceAccountName", "sa"),
        ("status.podIP", "127.42.0.1"),
        ("status.hostIP", "127.0.0.1"),
    ],
)
def test_fields_of_the_pod(path: str, value: str) -> None:
    assert given(field(path))["X"] == value


@pytest.mark.parametrize(
    ("resource", "divisor", "value"),
    [
        ("limits.cpu", None, "1"),
        ("limits.cpu", "1m", "500"),
        ("requests.memory", "1Mi", "64"),
        ("limits.memory", "1Mi", "1024"),
        ("requests.cpu", None, "0"),
    ],
)
def test_resources_of_the_container(resource: str, divisor: str | None, value: str) -> None:
    selector = ResourceFieldSelector(
        resource=resource, divisor=Quantity(divisor) if divisor else None
    )
    variable = EnvVar(name="X", value_from=EnvVarSource(resource_field_ref=selector))
    resources = ResourceRequirements(
        limits={"cpu": Quantity("500m")}, requests={"memory": Quantity("64Mi")}
    )
    assert given(variable, resources=resources)["X"] == value


@pytest.mark.parametrize(
    ("variable", "complaint"),
    [
        (key("none", "k"), 'configmap "none" not found'),
        (key("none", "k", secret=True), 'secret "none" not found'),
        (key("c", "k"), "couldn't find key k in ConfigMap ns/c"),
        (key("s", "k", secret=True), "couldn't find key k in Secret ns/s"),
        (field("spec.nonsense"), "unsupported fieldPath: spec.nonsense"),
    ],
)
def test_what_is_missing_is_told(variable: EnvVar, complaint: str) -> None:
    with pytest.raises(ContainerConfigError, match=complaint):
        given(variable)


def test_what_is_optional_may_be_missing() -> None:
    assert "X" not in given(key("none", "k", optional=True))
    assert "X" not in given(key("c", "k", optional=True))
    source = EnvFromSource(secret_ref=EnvSource(name="none", optional=True))
    assert "X" not in given(env_from=(source,))


def test_references_are_listed() -> None:
    source = EnvFromSource(secret_ref=EnvSource(name="s"))
    container = Container(name="c", env=(key("c", "K"),), env_from=(source,))
    assert set(env_references(container)) == {("ConfigMap", "c"), ("Secret", "s")}
