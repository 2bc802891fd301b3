"""What is in a pod's volumes: files from ConfigMaps, Secrets, tokens and the pod's own fields.

Pure: `files` says what a volume should hold, `quintant.cluster.kubelet.volume.publish` writes it.
What is missing and not optional keeps the pod from starting, with the words of a kubelet.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from quintant.api.container import Container
from quintant.api.core import ConfigMap, Secret
from quintant.api.pod import PodSpec
from quintant.api.volume import DownwardFile, KeyToPath, Volume
from quintant.cluster.kubelet.container.downward_api import Self, Unknown, resource
from quintant.cluster.kubelet.container.downward_api import field as own
from quintant.core.object import Model

READABLE = 0o644
PRIVATE = 0o600
TOKEN_SECONDS = 3600


class Unmountable(Exception):
    """A volume that cannot be set up (yet); the text says why."""


class TokenSource(Model):
    """A token of the pod's service account."""

    path: str
    audience: str = ""
    expiration_seconds: int = TOKEN_SECONDS


class ProjectedKeys(Model):
    """Keys of a ConfigMap or Secret."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


class ProjectedFields(Model):
    """Fields of the pod."""

    items: tuple[DownwardFile, ...] = ()


class Projection(Model):
    """One part of a projected volume; one of them is set."""

    config_map: ProjectedKeys | None = None
    secret: ProjectedKeys | None = None
    downward_api: ProjectedFields | None = msgspec.field(default=None, name="downwardAPI")
    service_account_token: TokenSource | None = None


class Projected(Model):
    """A volume made of parts."""

    sources: tuple[Projection, ...] = ()
    default_mode: int | None = None


@dataclass(frozen=True, slots=True)
class File:
    """A file to be."""

    content: bytes = field(repr=False)
    mode: int = READABLE


@dataclass(frozen=True, slots=True)
class Contents:
    """What volumes are filled from."""

    configs: Mapping[str, ConfigMap] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    tokens: Mapping[TokenSource, str] = field(default_factory=dict, repr=False)


def projected(volume: Volume) -> Projected:
    """The parts of a projected volume; none if it is of another sort."""
    if volume.projected is None:
        return Projected()
    return msgspec.json.decode(volume.projected.raw, type=Projected)


def tokens(spec: PodSpec) -> Iterator[TokenSource]:
    """The tokens that a pod's volumes ask for."""
    for volume in spec.volumes:
        for part in projected(volume).sources:
            if part.service_account_token:
                yield part.service_account_token


def references(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """The objects that a pod's volumes are filled from: kind and name."""
    for volume in spec.volumes:
        if volume.config_map:
            yield "ConfigMap", volume.config_map.name
        if volume.secret:
            yield "Secret", volume.secret.secret_name
        if volume.persistent_volume_claim:
            yield "PersistentVolumeClaim", volume.persistent_volume_claim.claim_name
        for part in projected(volume).sources:
            if part.config_map:
                yield "ConfigMap", part.config_map.name
            if part.secret:
                yield "Secret", part.secret.name


def files(volume: Volume, about: Self, contents: Contents) -> dict[str, File] | None:
    """The files of a volume by relative path; None if it is a plain directory."""
    if volume.config_map:
        keys = ProjectedKeys(
            name=volume.config_map.name,
            items=volume.config_map.items,
            optional=volume.config_map.optional,
        )
        return dict(_config(keys, volume.config_map.default_mode, contents))
    if volume.secret:
        keys = ProjectedKeys(
            name=volume.secret.secret_name,
            items=volume.secret.items,
            optional=volume.secret.optional,
        )
        return dict(_secret(keys, volume.secret.default_mode, contents))
    if volume.downward_api:
        fields = ProjectedFields(items=volume.downward_api.items)
        return dict(_fields(fields, volume.downward_api.default_mode, about))
    return dict(_parts(projected(volume), about, contents)) if volume.projected else None


def _parts(whole: Projected, about: Self, contents: Contents) -> Iterator[tuple[str, File]]:
    mode = whole.default_mode
    for part in whole.sources:
        if part.config_map:
            yield from _config(part.config_map, mode, contents)
        if part.secret:
            yield from _secret(part.secret, mode, contents)
        if part.downward_api:
            yield from _fields(part.downward_api, mode, about)
        if part.service_account_token:
            wanted = part.service_account_token
            # A token is its owner's alone, whatever the mode of the others.
            yield wanted.path, File(contents.tokens[wanted].encode(), PRIVATE)


def _config(
    keys: ProjectedKeys, mode: int | None, contents: Contents
) -> Iterator[tuple[str, File]]:
    found = contents.configs.get(keys.name)
    if found is None:
        if not keys.optional:
            raise Unmountable(f'configmap "{keys.name}" not found')
        return
    data = {key: text.encode() for key, text in found.data.items()}
    data |= {key: base64.b64decode(text) for key, text in found.binary_data.items()}
    yield from _chosen(data, keys, mode, "configmap references non-existent config key: {}")


def _secret(
    keys: ProjectedKeys, mode: int | None, contents: Contents
) -> Iterator[tuple[str, File]]:
    found = contents.secrets.get(keys.name)
    if found is None:
        if not keys.optional:
            raise Unmountable(f'secret "{keys.name}" not found')
        return
    data = {key: found.reveal(key) for key in found.data}
    yield from _chosen(data, keys, mode, "references non-existent secret key: {}")


def _chosen(
    data: Mapping[str, bytes], keys: ProjectedKeys, mode: int | None, complaint: str
) -> Iterator[tuple[str, File]]:
    usual = READABLE if mode is None else mode
    if not keys.items:
        for key, content in data.items():
            yield key, File(content, usual)
    for item in keys.items:
        if item.key in data:
            yield item.path, File(data[item.key], usual if item.mode is None else item.mode)
        elif not keys.optional:
            raise Unmountable(complaint.format(item.key))


def _fields(wanted: ProjectedFields, mode: int | None, about: Self) -> Iterator[tuple[str, File]]:
    usual = READABLE if mode is None else mode
    for item in wanted.items:
        try:
            text = _field(item, about)
        except Unknown as error:
            raise Unmountable(str(error)) from error
        yield item.path, File(text.encode(), usual if item.mode is None else item.mode)


def _field(item: DownwardFile, about: Self) -> str:
    if item.field_ref:
        return own(about, item.field_ref.field_path)
    if item.resource_field_ref:
        # In a volume the container is always named.
        return resource(about, item.resource_field_ref, Container(name=""))
    return ""
