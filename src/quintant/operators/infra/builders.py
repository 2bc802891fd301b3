"""What is made from a Cluster: the template that the provider gets, and the kubeconfig's Secret.

Pure. The template carries marks by which the infrastructure is found again when an answer was lost:
in metadata of our own, and in the name, which the provider keeps even where it loses the template.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quintant.api.core import Secret
from quintant.core.object import ObjectMeta, Opaque
from quintant.core.owner import owned
from quintant.operators.infra.api import CLUSTER_LABEL, GROUP, WATCH_LABEL, Cluster
from quintant.operators.infra.api.names import CONTENT_HASH
from quintant.runtime.apply.names import LABEL_LENGTH, child_name

CREATE_TOKEN = f"{GROUP}/create-token"
CLUSTER_UID = f"{GROUP}/cluster-uid"
OWNER = f"{GROUP}/owner"
INFRA_NAME = "infra_name"
MARKS = (CREATE_TOKEN, CLUSTER_UID, OWNER)
KUBECONFIG_KEY = "value"
"""The key that Cluster API uses, too."""
TEMPLATE_KEY = "tosca.json.gz"
STATUS_BYTES = 256 * 1024
"""The largest template that a status holds beside the spec that has it already."""
_SUFFIX, _TEMPLATE_SUFFIX = "-kubeconfig", "-template"
_SECRETIVE = ("password", "passwd", "token", "secret", "private_key")


def template(cluster: Cluster, token: str, instance: str) -> dict[str, Any]:
    """The template of a Cluster, with our marks in it."""
    sent: dict[str, Any] = cluster.spec.tosca.value if cluster.spec.tosca is not None else {}
    given = sent.get("metadata")
    metadata = dict(given) if isinstance(given, dict) else {}
    name = metadata.get(INFRA_NAME) or f"{cluster.metadata.namespace}.{cluster.metadata.name}"
    marks = {CREATE_TOKEN: token, CLUSTER_UID: cluster.metadata.uid, OWNER: instance}
    sent["metadata"] = {**metadata, INFRA_NAME: f"{name}--{token}", **marks}
    return sent


def unmarked(document: Mapping[str, Any]) -> dict[str, Any]:
    """A template as its Cluster has it: without our marks."""
    plain = dict(document)
    metadata = plain.get("metadata")
    if not isinstance(metadata, dict):
        return plain
    token = str(metadata.get(CREATE_TOKEN, ""))
    kept = {key: value for key, value in metadata.items() if key not in MARKS}
    name = str(kept.get(INFRA_NAME, "")).removesuffix(f"--{token}") if token else None
    if name is not None:
        kept[INFRA_NAME] = name
    plain["metadata"] = kept
    return plain


def same_template(document: Mapping[str, Any], cluster: Cluster) -> bool:
    """Whether a provider's template is what a Cluster asks for, whoever marked it."""
    wanted = cluster.spec.tosca.value if cluster.spec.tosca is not None else {}
    found = unmarked(document)
    if INFRA_NAME not in (wanted.get("metadata") or {}) and isinstance(found.get("metadata"), dict):
        found["metadata"].pop(INFRA_NAME, None)
        if not found["metadata"] and "metadata" not in wanted:
            del found["metadata"]
    return bool(found == wanted)


def inline_secrets(tosca: Opaque | None) -> Iterator[str]:
    """The inputs of a template whose names speak of secrets and that have a value in it."""
    document = tosca.value if tosca is not None else {}
    topology = document.get("topology_template")
    inputs = topology.get("inputs") if isinstance(topology, dict) else None
    for name, given in sorted(inputs.items()) if isinstance(inputs, dict) else ():
        value = given.get("default") if isinstance(given, dict) else None
        if value and any(word in name.lower() for word in _SECRETIVE):
            yield name


def secret_name(cluster: str) -> str:
    """The name of the Secret with a Cluster's kubeconfig."""
    return child_name(cluster, _SUFFIX)


def content_hash(kubeconfig: bytes) -> str:
    """What a kubeconfig is compared by."""
    return hashlib.sha256(kubeconfig).hexdigest()


def kept_template(cluster: Cluster, tosca: Opaque) -> Secret | None:
    """The Secret with a template that is too large for a status; None if it is not."""
    if len(tosca.raw) <= STATUS_BYTES:
        return None
    name = cluster.metadata.name
    meta = ObjectMeta(
        name=child_name(name, _TEMPLATE_SUFFIX),
        namespace=cluster.metadata.namespace,
        labels={CLUSTER_LABEL: child_name(name, length=LABEL_LENGTH)},
    )
    # Without the time, the same template is the same Secret.
    packed = base64.b64encode(gzip.compress(tosca.raw, mtime=0)).decode()
    return owned(Secret(metadata=meta, data={TEMPLATE_KEY: packed}, type="Opaque"), by=cluster)


def unpacked_template(raw: bytes) -> Opaque | None:
    """The template in such a Secret; None if somebody made something else of it."""
    try:
        found = Opaque(gzip.decompress(raw))
        return found if isinstance(found.value, dict) else None
    except (OSError, EOFError, zlib.error, msgspec.DecodeError):
        return None


def kubeconfig_secret(cluster: Cluster, kubeconfig: str) -> Secret:
    """The Secret with a Cluster's kubeconfig."""
    name, raw = cluster.metadata.name, kubeconfig.encode()
    return owned(
        Secret(
            metadata=ObjectMeta(
                name=secret_name(name),
                namespace=cluster.metadata.namespace,
                labels={
                    CLUSTER_LABEL: child_name(name, length=LABEL_LENGTH),
                    WATCH_LABEL: "true",
                },
                annotations={CONTENT_HASH: content_hash(raw)},
            ),
            data={KUBECONFIG_KEY: base64.b64encode(raw).decode()},
            type="Opaque",
        ),
        by=cluster,
    )
