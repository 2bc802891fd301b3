"""What is in a volume."""

from __future__ import annotations

import pytest

from quintant.api.container import ObjectFieldSelector
from quintant.api.core import ConfigMap, Secret
from quintant.api.pod import Pod, PodSpec
from quintant.api.volume import (
    ConfigMapVolumeSource,
    DownwardAPIVolumeFile,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    KeyToPath,
    PersistentVolumeClaimVolumeSource,
    SecretVolumeSource,
    Volume,
)
from quintant.cluster.kubelet.container.downward_api import DownwardSource
from quintant.cluster.kubelet.volume.projected import (
    MountError,
    ProjectedFile,
    ServiceAccountTokenProjection,
    VolumeContents,
    token_projections,
    volume_files,
    volume_references,
)
from quintant.core.object import ObjectMeta, Opaque

ABOUT = DownwardSource(Pod(metadata=ObjectMeta(name="p", labels={"a": "1"})), "", "", "local", {})
TOKEN = ServiceAccountTokenProjection(path="token", expiration_seconds=600)
CONTENTS = VolumeContents(
    {"c": ConfigMap(data={"a": "1", "b": "2"}, binary_data={"z": "AAE="})},
    {"s": Secret(data={"p": "cGFzcw=="})},
    {TOKEN: "secret-token"},
)
PROJECTED = Volume(
    name="v",
    projected=Opaque.of(
        {
            "defaultMode": 0o440,
            "sources": [
                {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}},
                {"configMap": {"name": "c", "items": [{"key": "a", "path": "x/a"}]}},
                {"secret": {"name": "s"}},
                {
                    "downwardAPI": {
                        "items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]
                    }
                },
            ],
        }
    ),
)


def test_every_key_is_a_file() -> None:
    volume = Volume(name="v", config_map=ConfigMapVolumeSource(name="c"))
    assert volume_files(volume, ABOUT, CONTENTS) == {
        "a": ProjectedFile(b"1"),
        "b": ProjectedFile(b"2"),
        "z": ProjectedFile(b"\x00\x01"),
    }


def test_items_choose_paths_and_modes() -> None:
    items = (KeyToPath(key="p", path="deep/pass", mode=0o400),)
    volume = Volume(
        name="v", secret=SecretVolumeSource(secret_name="s", items=items, default_mode=0o600)
    )
    assert volume_files(volume, ABOUT, CONTENTS) == {"deep/pass": ProjectedFile(b"pass", 0o400)}


def test_a_projected_volume_is_all_of_its_parts() -> None:
    assert volume_files(PROJECTED, ABOUT, CONTENTS) == {
        "token": ProjectedFile(b"secret-token", 0o600),
        "x/a": ProjectedFile(b"1", 0o440),
        "p": ProjectedFile(b"pass", 0o440),
        "n": ProjectedFile(b"p", 0o440),
    }


def test_fields_of_the_pod_are_files() -> None:
    item = DownwardAPIVolumeFile(
        path="l", field_ref=ObjectFieldSelector(field_path="metadata.labels")
    )
    volume = Volume(name="v", downward_api=DownwardAPIVolumeSource(items=(item,)))
    assert volume_files(volume, ABOUT, CONTENTS) == {"l": ProjectedFile(b'a="1"')}


def test_other_volumes_are_plain_folders() -> None:
    assert volume_files(Volume(name="v", empty_dir=EmptyDirVolumeSource()), ABOUT, CONTENTS) is None


@pytest.mark.parametrize(
    ("volume", "complaint"),
    [
        (Volume(name="v", config_map=ConfigMapVolumeSource(name="x")), 'configmap "x" not found'),
        (Volume(name="v", secret=SecretVolumeSource(secret_name="x")), 'secret "x" not found'),
        (
            Volume(
                name="v",
                secret=SecretVolumeSource(secret_name="s", items=(KeyToPath(key="q", path="q"),)),
            ),
            "references non-existent secret key: q",
        ),
    ],
)
def test_what_is_missing_is_told(volume: Volume, complaint: str) -> None:
    with pytest.raises(MountError, match=complaint):
        volume_files(volume, ABOUT, CONTENTS)


def test_what_is_optional_may_be_missing() -> None:
    volume = Volume(name="v", config_map=ConfigMapVolumeSource(name="x", optional=True))
    assert volume_files(volume, ABOUT, CONTENTS) == {}


def test_references_and_tokens_are_listed() -> None:
    claim = Volume(
        name="d", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name="disk")
    )
    spec = PodSpec(volumes=(PROJECTED, claim))
    assert set(volume_references(spec)) == {
        ("ConfigMap", "c"),
        ("Secret", "s"),
        ("PersistentVolumeClaim", "disk"),
    }
    assert list(token_projections(spec)) == [TOKEN]


def test_no_content_is_shown() -> None:
    assert "secret-token" not in repr(CONTENTS)
    assert "pass" not in repr(ProjectedFile(b"pass"))
