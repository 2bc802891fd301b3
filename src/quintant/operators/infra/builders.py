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
from urllib.parse import urlsplit

from quintant.api.core import Secret
from quintant.core.object import ObjectMeta, Opaque, Request
from quintant.core.owner import owned
from quintant.operators.infra.api import (
    CLUSTER_LABEL,
    GROUP,
    WATCH_LABEL,
    Cluster,
    InfrastructureClaim,
)
from quintant.operators.infra.api.claim import ClaimHolder, InfrastructureClaimSpec
from quintant.operators.infra.api.names import CONTENT_HASH
from quintant.runtime.apply.names import LABEL_LENGTH, child_name
from quintant.wire.foreign import MalformedInput, decode_json

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
TEMPLATE_BYTES = 4 * 1024 * 1024
"""The largest template that is unpacked: more than an API server stores of a whole Cluster."""
_GZIP = 16 + zlib.MAX_WBITS
"""What zlib calls data with the head of gzip."""
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
    """Whether a provider's template is what a Cluster asks for, by whichever marks."""
    wanted = cluster.spec.tosca.value if cluster.spec.tosca is not None else {}
    plain = unmarked(document)
    if INFRA_NAME not in (wanted.get("metadata") or {}) and isinstance(plain.get("metadata"), dict):
        plain["metadata"].pop(INFRA_NAME, None)
        if not plain["metadata"] and "metadata" not in wanted:
            del plain["metadata"]
    return bool(plain == wanted)


def provider_address(url: str) -> str:
    """What claims call a provider: host, port and path, however the URL is written."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{(parts.hostname or '').lower()}:{port}{parts.path.rstrip('/')}"


def infrastructure_claim(cluster: Cluster, provider: str, id: str) -> InfrastructureClaim:
    """The claim of a Cluster to an infrastructure."""
    digest = hashlib.sha256(f"{provider}\n{id}".encode()).hexdigest()[:20]
    meta = cluster.metadata
    return InfrastructureClaim(
        metadata=ObjectMeta(name=f"{digest}-{id.lower()}"[:LABEL_LENGTH].rstrip("-")),
        spec=InfrastructureClaimSpec(
            provider=provider,
            infrastructure_id=id,
            holder=ClaimHolder(namespace=meta.namespace, name=meta.name, uid=meta.uid),
        ),
    )


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


def secret_keys(cluster: Cluster) -> Iterator[Request]:
    """The Secrets that are made for a Cluster."""
    namespace, status = cluster.metadata.namespace, cluster.status
    yield Request(secret_name(cluster.metadata.name), namespace)
    if status is not None and status.last_applied_ref is not None:
        yield Request(status.last_applied_ref.name, namespace)


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
    """The template in such a Secret; None if another client made something else of it."""
    unpacking = zlib.decompressobj(_GZIP)
    try:
        plain = unpacking.decompress(raw, TEMPLATE_BYTES)
        whole = unpacking.eof and isinstance(decode_json(plain, most=TEMPLATE_BYTES), dict)
    except (zlib.error, MalformedInput):
        return None
    return Opaque(plain) if whole else None


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
