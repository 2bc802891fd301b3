"""collectData: files from ConfigMaps, Secrets, tokens and the pod's own fields.

Pure: `volume_files` says what a volume should hold, quintant.cluster.kubelet.volume.publish writes
it. What is missing and not optional keeps the pod from starting, with the words of a kubelet.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from quintant.api.container import Container
from quintant.api.core import ConfigMap, Secret
from quintant.api.pod import PodSpec
from quintant.api.volume import DownwardAPIVolumeFile, KeyToPath, Volume
from quintant.cluster.kubelet.container.downward_api import (
    DownwardSource,
    UnknownField,
    resource_value,
)
from quintant.cluster.kubelet.container.downward_api import field_value as own
from quintant.core.object import Model

READABLE = 0o644
PRIVATE = 0o600
TOKEN_SECONDS = 3600


class MountError(Exception):
    """A volume that cannot be set up (yet); the text says why."""


class ServiceAccountTokenProjection(Model):
    """A token of the pod's service account."""

    path: str
    audience: str = ""
    expiration_seconds: int = TOKEN_SECONDS


class KeyProjection(Model):
    """Keys of a ConfigMap or Secret."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


class DownwardAPIProjection(Model):
    """Fields of the pod."""

    items: tuple[DownwardAPIVolumeFile, ...] = ()


class VolumeProjection(Model):
    """One part of a projected volume; one of them is set."""

    config_map: KeyProjection | None = None
    secret: KeyProjection | None = None
    downward_api: DownwardAPIProjection | None = msgspec.field(default=None, name="downwardAPI")
    service_account_token: ServiceAccountTokenProjection | None = None


class ProjectedVolumeSource(Model):
    """A volume made of parts."""

    sources: tuple[VolumeProjection, ...] = ()
    default_mode: int | None = None


@dataclass(frozen=True, slots=True)
class ProjectedFile:
    """A file to be."""

    content: bytes = field(repr=False)
    mode: int = READABLE


@dataclass(frozen=True, slots=True)
class VolumeContents:
    """What volumes are filled from."""

    configs: Mapping[str, ConfigMap] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    tokens: Mapping[ServiceAccountTokenProjection, str] = field(default_factory=dict, repr=False)


def projected_sources(volume: Volume) -> ProjectedVolumeSource:
    """The parts of a projected volume; none if it is of another sort."""
    if volume.projected is None:
        return ProjectedVolumeSource()
    return msgspec.json.decode(volume.projected.raw, type=ProjectedVolumeSource)


def token_projections(spec: PodSpec) -> Iterator[ServiceAccountTokenProjection]:
    """The tokens that a pod's volumes ask for."""
    for volume in spec.volumes:
        for part in projected_sources(volume).sources:
            if part.service_account_token:
                yield part.service_account_token


def volume_references(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """The objects that a pod's volumes are filled from: kind and name."""
    for volume in spec.volumes:
        if volume.config_map:
            yield "ConfigMap", volume.config_map.name
        if volume.secret:
            yield "Secret", volume.secret.secret_name
        if volume.persistent_volume_claim:
            yield "PersistentVolumeClaim", volume.persistent_volume_claim.claim_name
        for part in projected_sources(volume).sources:
            if part.config_map:
                yield "ConfigMap", part.config_map.name
            if part.secret:
                yield "Secret", part.secret.name


def volume_files(
    volume: Volume, about: DownwardSource, contents: VolumeContents
) -> dict[str, ProjectedFile] | None:
    """The files of a volume by relative path; None if it is a plain directory."""
    if volume.config_map:
        keys = KeyProjection(
            name=volume.config_map.name,
            items=volume.config_map.items,
            optional=volume.config_map.optional,
        )
        return dict(_config(keys, volume.config_map.default_mode, contents))
    if volume.secret:
        keys = KeyProjection(
            name=volume.secret.secret_name,
            items=volume.secret.items,
            optional=volume.secret.optional,
        )
        return dict(_secret(keys, volume.secret.default_mode, contents))
    if volume.downward_api:
        fields = DownwardAPIProjection(items=volume.downward_api.items)
        return dict(_fields(fields, volume.downward_api.default_mode, about))
    return dict(_parts(projected_sources(volume), about, contents)) if volume.projected else None


def _parts(
    whole: ProjectedVolumeSource, about: DownwardSource, contents: VolumeContents
) -> Iterator[tuple[str, ProjectedFile]]:
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
            yield wanted.path, ProjectedFile(contents.tokens[wanted].encode(), PRIVATE)


def _config(
    keys: KeyProjection, mode: int | None, contents: VolumeContents
) -> Iterator[tuple[str, ProjectedFile]]:
    found = contents.configs.get(keys.name)
    if found is None:
        if not keys.optional:
            raise MountError(f'configmap "{keys.name}" not found')
        return
    data = {key: text.encode() for key, text in found.data.items()}
    data |= {key: base64.b64decode(text) for key, text in found.binary_data.items()}
    yield from _chosen(data, keys, mode, "configmap references non-existent config key: {}")


def _secret(
    keys: KeyProjection, mode: int | None, contents: VolumeContents
) -> Iterator[tuple[str, ProjectedFile]]:
    found = contents.secrets.get(keys.name)
    if found is None:
        if not keys.optional:
            raise MountError(f'secret "{keys.name}" not found')
        return
    data = {key: found.reveal(key) for key in found.data}
    yield from _chosen(data, keys, mode, "references non-existent secret key: {}")


def _chosen(
    data: Mapping[str, bytes], keys: KeyProjection, mode: int | None, complaint: str
) -> Iterator[tuple[str, ProjectedFile]]:
    usual = READABLE if mode is None else mode
    if not keys.items:
        for key, content in data.items():
            yield key, ProjectedFile(content, usual)
    for item in keys.items:
        if item.key in data:
            yield (
                item.path,
                ProjectedFile(data[item.key], usual if item.mode is None else item.mode),
            )
        elif not keys.optional:
            raise MountError(complaint.format(item.key))


def _fields(
    wanted: DownwardAPIProjection, mode: int | None, about: DownwardSource
) -> Iterator[tuple[str, ProjectedFile]]:
    usual = READABLE if mode is None else mode
    for item in wanted.items:
        try:
            text = _field(item, about)
        except UnknownField as error:
            raise MountError(str(error)) from error
        yield item.path, ProjectedFile(text.encode(), usual if item.mode is None else item.mode)


def _field(item: DownwardAPIVolumeFile, about: DownwardSource) -> str:
    if item.field_ref:
        return own(about, item.field_ref.field_path)
    if item.resource_field_ref:
        # In a volume the container is always named.
        return resource_value(about, item.resource_field_ref, Container(name=""))
    return ""
