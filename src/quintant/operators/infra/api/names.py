"""Group, finalizers, annotations and labels of infra, and the references that its kinds share."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from quintant.core.object import Model, Opaque
from quintant.core.schema.markers import cel, default

GROUP = "infra.quintant.dev"
VERSION = "v1alpha1"
CATEGORY = "infra"

FINALIZER = f"{GROUP}/infrastructure-resources-deletion"
LEGACY_FINALIZER = "infrastructure_resources_deletion"
"""The name in the document; a real API server warns of names without a domain."""
IN_USE = f"{GROUP}/in-use"
"""Holds a Cloud that has Clusters, and a provider that has Clouds."""

PAUSED = f"{GROUP}/paused"
"""The annotation ("true") that stops all work on a Cluster, as `spec.paused` does."""
RETRY = f"{GROUP}/retry"
"""The annotation whose every new value ends a wait: attempts are counted from none again."""
FORCE_DELETE = f"{GROUP}/force-delete"
"""The annotation ("true") with which the provider forgets what it cannot delete."""

INFRASTRUCTURE = f"{GROUP}/infrastructure"
"""The annotation with the id of a Cluster's infrastructure; a restore without status keeps it."""

WATCH_LABEL = f"{GROUP}/watch"
"""The label ("true") of Secrets whose changes are seen at once, and not within a minute."""
HOSTS = f"{GROUP}/hosts"
"""The annotation of Secrets with credentials: the hosts that may see them, as host or host:port, by
commas. A provider's Secret names the provider; a cloud's names the provider and the cloud."""
CLUSTER_LABEL = f"{GROUP}/cluster"
"""The label of the Secrets that hold kubeconfigs: the Cluster's name, cut if it is long."""
CONTENT_HASH = f"{GROUP}/content-hash"
"""The annotation of such a Secret: the digest of what the provider gave."""

NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
Name = Annotated[str, Meta(min_length=1, max_length=253, pattern=NAME)]
URL = r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$"
"""An address without user, query and fragment: those may be secrets, and status shows it."""

NOT_YET = "metrics are not supported yet: leave the field out"


class CredentialsRef(Model):
    """A Secret. Kinds with a namespace name one beside them, global kinds say where it is."""

    name: Name
    """The Secret's name."""
    namespace: str = ""
    """Its namespace; only for global kinds."""


class SecretKeyRef(Model):
    """A key of a Secret."""

    name: Name
    """The Secret's name."""
    key: Annotated[str | None, default("value")] = None
    """The key in it."""


def reserved(rule: str = "false") -> Any:
    """The mark of a field that is known, and refused until somebody builds what it stands for."""
    return cel(rule, NOT_YET)


Reserved = Annotated[Opaque | None, reserved()]
