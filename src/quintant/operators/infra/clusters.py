"""The clusters that infra makes, for other operators: `manager.clusters(infra_clusters())`.

infra keeps the kubeconfig of a Cluster in a Secret of its namespace, which has two labels and is
controlled by the Cluster: it goes with it. Who runs beside infra needs nothing else of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.core.object import ObjectMeta
from quintant.operators.infra.api.names import CLUSTER_LABEL, GROUP, WATCH_LABEL
from quintant.operators.infra.builders import KUBECONFIG_KEY
from quintant.runtime.clusters.provider import LIMITS
from quintant.runtime.clusters.secrets import SecretClusters
from quintant.runtime.remote import RemoteLimits


class InfraClusters(SecretClusters):
    """The Secrets with kubeconfigs that infra writes."""

    def name_of(self, secret: ObjectMeta) -> str:
        """Namespace and name of the Cluster: `default.sample`."""
        for owner in secret.owner_references:
            if owner.controller and owner.api_version.partition("/")[0] == GROUP:
                return f"{secret.namespace}.{owner.name}"
        return super().name_of(secret)


def infra_clusters(
    namespaces: Sequence[str] = (), *, insecure: bool = False, limits: RemoteLimits = LIMITS
) -> InfraClusters:
    """Follow the clusters that infra has made, in these namespaces only, or in all.

    `insecure` is what infra's own option of that name allows: servers that are not checked.
    """
    return InfraClusters(
        f"{WATCH_LABEL}=true,{CLUSTER_LABEL}",
        key=KUBECONFIG_KEY,
        namespaces=namespaces,
        insecure=insecure,
        limits=limits,
    )
