"""What a CosmosFullNode must say to make sense; the schema cannot check it all. Pure.

Errors stop everything: children stay as they are until the text is mended. Warnings are told, and
the rest works.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from quintant.api.quantity import parse_quantity
from quintant.core.errors import Cause
from quintant.core.object import Opaque
from quintant.operators.cosmos.api.chain import ChainSpec
from quintant.operators.cosmos.api.full_node import CosmosFullNode, NodeVolumeClaimTemplate
from quintant.operators.cosmos.builders.config_map_builder import parse_overrides
from quintant.operators.cosmos.builders.instances import instances, is_sentry, override_of, to_name
from quintant.operators.cosmos.builders.pvc_builder import STORAGE, increased

_PERCENT = re.compile(r"[0-9]{1,9}%", re.ASCII)
_PEER = re.compile(r"[0-9a-fA-F]{40}@[^\s@:,]+:[0-9]{1,5}")
_SERVER = re.compile(r"(?:https?|tcp)://[^\s/@,]+(?:/[^\s,]*)?")
_DISABLE = ("Pod", "All")


def validate(crd: CosmosFullNode) -> Iterator[Cause]:
    """What makes no sense, each with its field."""
    spec = crd.spec
    yield from _versions(spec.chain)
    yield from _images(crd)
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
    yield from _containers(crd)
    yield from _healing(crd)


def warn(crd: CosmosFullNode) -> Iterator[str]:
    """What is probably not meant."""
    config = crd.spec.chain.config
    for field, text in (("peers", config.peers), ("seeds", config.seeds)):
        bad = [each for each in (text or "").split(",") if each and not _PEER.fullmatch(each)]
        if bad:
            yield f"spec.chain.config.{field}: {bad[0]!r} is no id@host:port"
    known = {each.name for each in instances(crd)} | set(_additional_names(crd))
    for name in sorted(crd.spec.instance_overrides):
        if name not in known:
            yield f"spec.instanceOverrides: there is no instance {name}"
        disable = override_of(crd, name).disable
        if disable is not None and disable not in _DISABLE:
            yield f"spec.instanceOverrides[{name}].disable: {disable!r} is taken for Pod"
    if is_sentry(crd) and crd.spec.pod_template.probes.strategy not in (None, "None"):
        yield (
            "spec.podTemplate.probes.strategy: a sentry with a readiness probe waits for a signer "
            "that waits for it; leave it out, or say None"
        )


def _versions(chain: ChainSpec) -> Iterator[Cause]:
    for at, (before, after) in enumerate(zip(chain.versions, chain.versions[1:], strict=False), 1):
        if after.height <= before.height:
            said = f"{after.height} does not come after {before.height}"
            yield _invalid(f"spec.chain.versions[{at}].height", said)
    for at, version in enumerate(chain.versions):
        if not version.image:
            yield _invalid(f"spec.chain.versions[{at}].image", "it is empty")


def _images(crd: CosmosFullNode) -> Iterator[Cause]:
    template, versions = crd.spec.pod_template, crd.spec.chain.versions
    if template.image or (versions and versions[0].height == 0):
        return
    if all(override_of(crd, each.name).image for each in instances(crd)) and crd.spec.replicas:
        return
    named = (each.value for each in template.containers)
    if any(each.get("name") == "node" and each.get("image") for each in named):
        return
    where = "spec.podTemplate.image"
    if versions:
        first = versions[0].height
        yield _invalid(where, f"there is no image below height {first}: give one, or a version 0")
    else:
        yield _invalid(where, "there is no image: give one here, or in spec.chain.versions")


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
            said = f"{server!r} is no address such as https://rpc.example.com:443"
            yield _invalid(f"spec.chain.stateSync.rpcServers[{at}]", said)


def _claim(path: str, template: NodeVolumeClaimTemplate, *, required: bool) -> Iterator[Cause]:
    asked = template.resources.requests.get(STORAGE, "")
    where = f"{path}.resources.requests.storage"
    if not asked and required:
        yield _invalid(where, "there is no size")
    yield from _amount(where, asked)


def _amount(path: str, text: str) -> Iterator[Cause]:
    try:
        if text and parse_quantity(text) <= 0:
            yield _invalid(path, f"{text} is no size")
    except ValueError as error:
        yield _invalid(path, str(error))


def _containers(crd: CosmosFullNode) -> Iterator[Cause]:
    template = crd.spec.pod_template
    parts: dict[str, Iterable[Opaque]] = {
        "containers": template.containers,
        "initContainers": template.init_containers,
        "volumes": template.volumes,
    }
    for part, items in parts.items():
        for at, item in enumerate(items):
            if not isinstance(item.value.get("name"), str):
                yield _invalid(f"spec.podTemplate.{part}[{at}].name", "it is missing")
    seen: set[str] = set()
    for at, item in enumerate(crd.spec.additional_versioned_pods):
        where, value = f"spec.additionalVersionedPods[{at}]", item.value
        name = value.get("name")
        if not isinstance(name, str) or not to_name(name) or name in seen:
            yield _invalid(f"{where}.name", "it is missing, or there twice")
        seen.add(str(name))
        if not value.get("containers"):
            yield _invalid(f"{where}.containers", "there are none")


def _healing(crd: CosmosFullNode) -> Iterator[Cause]:
    scale = crd.spec.self_heal.pvc_auto_scale if crd.spec.self_heal else None
    if scale is None:
        return
    path = "spec.selfHeal.pvcAutoScale"
    try:
        grows = increased(Decimal(100), scale.increase_quantity) > 100
    except (ValueError, ArithmeticError):
        grows = False
    if not grows:
        said = f"{scale.increase_quantity!r} is neither a size nor N%"
        yield _invalid(f"{path}.increaseQuantity", said)
    if scale.max_size is not None:
        yield from _amount(f"{path}.maxSize", scale.max_size)


def _additional_names(crd: CosmosFullNode) -> Iterator[str]:
    for item in crd.spec.additional_versioned_pods:
        for each in instances(crd):
            yield to_name(f"{item.value.get('name')}-{each.ordinal}")


def _invalid(field: str, message: str) -> Cause:
    return Cause(reason="FieldValueInvalid", message=message, field=field)
