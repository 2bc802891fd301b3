"""makeEnvironmentVariables: services, envFrom, env, in that order; later ones win.

Pure: what ConfigMaps, Secrets and Services there are is given (`EnvSources`). What is missing and
not optional keeps the container from starting, with the words of a kubelet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from quintant.api.container import Container, EnvFromSource, EnvVar, KeySelector
from quintant.api.core import ConfigMap, Secret
from quintant.api.service import Service
from quintant.cluster.kubelet.container.downward_api import (
    DownwardSource,
    UnknownField,
    resource_value,
)
from quintant.cluster.kubelet.container.downward_api import field_value as own
from quintant.cluster.kubelet.container.expand_vars import expand
from quintant.core.address import BindAddress

HEADLESS = "None"


class ContainerConfigError(Exception):
    """Something that the container needs is not there; the text says what."""


class EnvSources(Struct, frozen=True):
    """What a pod may refer to in its namespace, and where the API server is."""

    api: BindAddress
    configs: Mapping[str, ConfigMap] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    services: tuple[Service, ...] = ()


def make_environment(
    container: Container, about: DownwardSource, sources: EnvSources
) -> dict[str, str]:
    """The variables of a container, as its pod asks for them."""
    found = dict(_api(sources.api))
    if about.pod.spec.enable_service_links is not False:
        for service in sources.services:
            found.update(_links(service))
    for source in container.env_from:
        found.update(_all(source, about, sources))
    for variable in container.env:
        value = _value(variable, container, found, about, sources)
        if value is not None:
            found[variable.name] = value
    return found


def env_references(container: Container) -> Iterator[tuple[str, str]]:
    """The ConfigMaps and Secrets that a container's variables come from: kind and name."""
    for source in container.env_from:
        if source.config_map_ref:
            yield "ConfigMap", source.config_map_ref.name
        if source.secret_ref:
            yield "Secret", source.secret_ref.name
    for variable in container.env:
        if variable.value_from and variable.value_from.config_map_key_ref:
            yield "ConfigMap", variable.value_from.config_map_key_ref.name
        if variable.value_from and variable.value_from.secret_key_ref:
            yield "Secret", variable.value_from.secret_key_ref.name


def _value(
    variable: EnvVar,
    container: Container,
    known: Mapping[str, str],
    about: DownwardSource,
    sources: EnvSources,
) -> str | None:
    source = variable.value_from
    if source is None:
        return expand(variable.value, known)
    try:
        if source.field_ref:
            return own(about, source.field_ref.field_path)
        if source.resource_field_ref:
            return resource_value(about, source.resource_field_ref, container)
    except UnknownField as error:
        raise ContainerConfigError(str(error)) from error
    if source.config_map_key_ref:
        return _config(source.config_map_key_ref, about, sources)
    if source.secret_key_ref:
        return _secret(source.secret_key_ref, about, sources)
    return ""


def _config(wanted: KeySelector, about: DownwardSource, sources: EnvSources) -> str | None:
    found = sources.configs.get(wanted.name)
    if found is not None and wanted.key in found.data:
        return found.data[wanted.key]
    _check(wanted, about, "ConfigMap", there=found is not None)
    return None


def _secret(wanted: KeySelector, about: DownwardSource, sources: EnvSources) -> str | None:
    found = sources.secrets.get(wanted.name)
    if found is not None and wanted.key in found.data:
        return _text(found, wanted.key)
    _check(wanted, about, "Secret", there=found is not None)
    return None


def _check(wanted: KeySelector, about: DownwardSource, kind: str, *, there: bool) -> None:
    """Whether a key may be missing."""
    if wanted.optional:
        return
    if not there:
        raise ContainerConfigError(f'{kind.lower()} "{wanted.name}" not found')
    key = f"{about.pod.metadata.namespace}/{wanted.name}"
    raise ContainerConfigError(f"couldn't find key {wanted.key} in {kind} {key}")


def _all(
    source: EnvFromSource, about: DownwardSource, sources: EnvSources
) -> Iterator[tuple[str, str]]:
    if source.config_map_ref:
        ref = source.config_map_ref
        config = sources.configs.get(ref.name)
        if config is None and not ref.optional:
            raise ContainerConfigError(f'configmap "{ref.name}" not found')
        pairs: Iterable[tuple[str, str]] = config.data.items() if config else ()
    elif source.secret_ref:
        named = source.secret_ref
        secret = sources.secrets.get(named.name)
        if secret is None and not named.optional:
            raise ContainerConfigError(f'secret "{named.name}" not found')
        pairs = [(key, _text(secret, key)) for key in secret.data] if secret else ()
    else:
        return
    for key, value in pairs:
        yield f"{source.prefix}{key}", value


def _text(secret: Secret, key: str) -> str:
    return secret.reveal(key).decode(errors="replace")


def _api(api: BindAddress) -> Iterator[tuple[str, str]]:
    yield from _addressed("KUBERNETES", api.host, [("https", api.port, "tcp")])


def _links(service: Service) -> Iterator[tuple[str, str]]:
    """What Docker's links once were."""
    spec = service.spec
    if spec.cluster_ip in ("", HEADLESS) or service.metadata.name == "kubernetes":
        return
    ports = [(port.name, port.port, (port.protocol or "TCP").lower()) for port in spec.ports]
    name = service.metadata.name.upper().replace("-", "_")
    yield from _addressed(name, spec.cluster_ip, ports)


def _addressed(
    name: str, host: str, ports: list[tuple[str, int, str]]
) -> Iterator[tuple[str, str]]:
    if not ports:
        return
    yield f"{name}_SERVICE_HOST", host
    yield f"{name}_SERVICE_PORT", str(ports[0][1])
    for label, number, _ in ports:
        if label:
            yield f"{name}_SERVICE_PORT_{label.upper().replace('-', '_')}", str(number)
    yield f"{name}_PORT", f"{ports[0][2]}://{host}:{ports[0][1]}"
    for _, number, protocol in ports:
        prefix = f"{name}_PORT_{number}_{protocol.upper()}"
        yield prefix, f"{protocol}://{host}:{number}"
        yield f"{prefix}_PROTO", protocol
        yield f"{prefix}_PORT", str(number)
        yield f"{prefix}_ADDR", host
