"""What a CosmosFullNode must say to make sense; the schema cannot check it all. Pure.

Errors stop everything: children stay as they are until the text is mended. Warnings are
reported, and the rest works.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from quintant.api.quantity import LARGEST_BINARY, parse_quantity
from quintant.core.errors import Cause
from quintant.core.object import Opaque
from quintant.core.schema.limits import beyond_limits
from quintant.operators.cosmos.api.chain import ChainSpec
from quintant.operators.cosmos.api.full_node import CosmosFullNode, NodeVolumeClaimTemplate
from quintant.operators.cosmos.builders.claim_size import STORAGE, increased
from quintant.operators.cosmos.builders.config_map_builder import parse_overrides
from quintant.operators.cosmos.builders.instances import instances, is_sentry, override_of, to_name

_PERCENT = re.compile(r"[0-9]{1,9}%", re.ASCII)
_PEER = re.compile(r"[0-9a-fA-F]{40}@[^\s@:,]+:[0-9]{1,5}")
_SERVER = re.compile(r"(?:https?|tcp)://[^\s/@,]+(?:/[^\s,]*)?")
_DISABLE = ("Pod", "All")


def validate(full_node: CosmosFullNode) -> Iterator[Cause]:
    """What makes no sense, each with its field."""
    spec = full_node.spec
    beyond = tuple(beyond_limits(spec, "spec"))
    yield from beyond
    if beyond:
        return  # what is too large is not looked into
    yield from _versions(spec.chain)
    yield from _images(full_node)
    yield from _toml(spec.chain)
    yield from _state_sync(spec.chain)
    most = spec.strategy.max_unavailable
    if isinstance(most, str) and not _PERCENT.fullmatch(most):
        yield _invalid("spec.strategy.maxUnavailable", f"{most!r} is neither a number nor N%")
    yield from _claim("spec.volumeClaimTemplate", spec.volume_claim_template, required=True)
    for name, override in sorted(spec.instance_overrides.items()):
        path = f"spec.instanceOverrides[{name}].volumeClaimTemplate.resources.requests.storage"
        given = override.volume_claim_template
        if given is not None and given.resources is not None:
            yield from _amount(path, given.resources.requests.get(STORAGE, ""))
    yield from _containers(full_node)
    yield from _healing(full_node)


def warn(full_node: CosmosFullNode) -> Iterator[str]:
    """What is probably not meant."""
    config = full_node.spec.chain.config
    for field, text in (("peers", config.peers), ("seeds", config.seeds)):
        bad = [each for each in (text or "").split(",") if each and not _PEER.fullmatch(each)]
        if bad:
            yield f"spec.chain.config.{field}: {bad[0]!r} is no id@host:port"
    known = {each.name for each in instances(full_node)} | set(_additional_names(full_node))
    for name in sorted(full_node.spec.instance_overrides):
        if name not in known:
            yield f"spec.instanceOverrides: there is no instance {name}"
        disable = override_of(full_node, name).disable
        if disable is not None and disable not in _DISABLE:
            yield f"spec.instanceOverrides[{name}].disable: {disable!r} is taken for Pod"
    if is_sentry(full_node) and full_node.spec.pod_template.probes.strategy not in (None, "None"):
        yield (
            "spec.podTemplate.probes.strategy: a sentry with a readiness probe waits for a signer "
            "that waits for it; leave it out, or say None"
        )


def _versions(chain: ChainSpec) -> Iterator[Cause]:
    for at, (before, after) in enumerate(zip(chain.versions, chain.versions[1:], strict=False), 1):
        if after.height <= before.height:
            message = f"{after.height} does not come after {before.height}"
            yield _invalid(f"spec.chain.versions[{at}].height", message)
    for at, version in enumerate(chain.versions):
        if not version.image:
            yield _invalid(f"spec.chain.versions[{at}].image", "it is empty")


def _images(full_node: CosmosFullNode) -> Iterator[Cause]:
    template, versions = full_node.spec.pod_template, full_node.spec.chain.versions
    if template.image or (versions and versions[0].height == 0):
        return
    if (
        all(override_of(full_node, each.name).image for each in instances(full_node))
        and full_node.spec.replicas
    ):
        return
    named = (each.value for each in template.containers)
    if any(each.get("name") == "node" and each.get("image") for each in named):
        return
    path = "spec.podTemplate.image"
    if versions:
        first = versions[0].height
        yield _invalid(path, f"there is no image below height {first}: give one, or a version 0")
    else:
        yield _invalid(path, "there is no image: give one here, or in spec.chain.versions")


def _toml(chain: ChainSpec) -> Iterator[Cause]:
    texts = {"config": chain.config.overrides, "app": chain.app.overrides if chain.app else ""}
    for part, text in texts.items():
        try:
            parse_overrides(text)
        except ValueError as error:
            yield _invalid(f"spec.chain.{part}.overrides", f"no TOML: {error}")


def _state_sync(chain: ChainSpec) -> Iterator[Cause]:
    for at, server in enumerate(chain.state_sync.rpc_servers if chain.state_sync else ()):
        if not _SERVER.fullmatch(server):
            message = f"{server!r} is no address such as https://rpc.example.com:443"
            yield _invalid(f"spec.chain.stateSync.rpcServers[{at}]", message)


def _claim(path: str, template: NodeVolumeClaimTemplate, *, required: bool) -> Iterator[Cause]:
    requested = template.resources.requests.get(STORAGE, "")
    size_path = f"{path}.resources.requests.storage"
    if not requested and required:
        yield _invalid(size_path, "there is no size")
    yield from _amount(size_path, requested)


def _amount(path: str, text: str) -> Iterator[Cause]:
    try:
        if text and not 0 < parse_quantity(text) <= LARGEST_BINARY:
            yield _invalid(path, f"{text} is no size")
    except ValueError as error:
        yield _invalid(path, str(error))


def _containers(full_node: CosmosFullNode) -> Iterator[Cause]:
    template = full_node.spec.pod_template
    parts: dict[str, Iterable[Opaque]] = {
        "containers": template.containers,
        "initContainers": template.init_containers,
        "volumes": template.volumes,
    }
    for part, items in parts.items():
        for at, item in enumerate(items):
            if not isinstance(item.value.get("name"), str):
                yield _invalid(f"spec.podTemplate.{part}[{at}].name", "it is missing")
    names: set[str] = set()
    for at, item in enumerate(full_node.spec.additional_versioned_pods):
        path, value = f"spec.additionalVersionedPods[{at}]", item.value
        name = value.get("name")
        if not isinstance(name, str) or not to_name(name) or name in names:
            yield _invalid(f"{path}.name", "it is missing, or there twice")
        names.add(str(name))
        if not value.get("containers"):
            yield _invalid(f"{path}.containers", "there are none")
        for part in ("containers", "initContainers"):
            if not all(_is_named(each) for each in value.get(part) or ()):
                yield _invalid(f"{path}.{part}", "one of them has no name")


def _is_named(container: object) -> bool:
    return isinstance(container, dict) and isinstance(container.get("name"), str)


def _healing(full_node: CosmosFullNode) -> Iterator[Cause]:
    scale = full_node.spec.self_heal.pvc_auto_scale if full_node.spec.self_heal else None
    if scale is None:
        return
    path = "spec.selfHeal.pvcAutoScale"
    try:
        grows = increased(Decimal(100), scale.increase_quantity) > 100
    except (ValueError, ArithmeticError):
        grows = False
    if not grows:
        message = f"{scale.increase_quantity!r} is neither a size nor N%"
        yield _invalid(f"{path}.increaseQuantity", message)
    if scale.max_size is not None:
        yield from _amount(f"{path}.maxSize", scale.max_size)


def _additional_names(full_node: CosmosFullNode) -> Iterator[str]:
    for item in full_node.spec.additional_versioned_pods:
        for each in instances(full_node):
            yield to_name(f"{item.value.get('name')}-{each.ordinal}")


def _invalid(field: str, message: str) -> Cause:
    return Cause(reason="FieldValueInvalid", message=message, field=field)
