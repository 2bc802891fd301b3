"""What every cluster has from its first moment: namespaces, and the roles everybody relies on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.cluster.auth import AUTHENTICATED, MASTERS, UNAUTHENTICATED

RBAC = "rbac.authorization.k8s.io"
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

_HEALTH = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_DISCOVERY = [*_HEALTH, "/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"]
_EVERYTHING = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
]
_ROLES: dict[str, tuple[list[dict[str, Any]], tuple[str, ...]]] = {
    "cluster-admin": (_EVERYTHING, (MASTERS,)),
    "system:discovery": (
        [{"nonResourceURLs": _DISCOVERY, "verbs": ["get"]}],
        (AUTHENTICATED,),
    ),
    "system:public-info-viewer": (
        [{"nonResourceURLs": _HEALTH, "verbs": ["get"]}],
        (AUTHENTICATED, UNAUTHENTICATED),
    ),
}
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}


def first_objects() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Group, plural and content of each object, in the order they are created."""
    for name in NAMESPACES:
        yield "", "namespaces", {"metadata": {"name": name}}
    for name, (rules, groups) in _ROLES.items():
        metadata = {"name": name, "labels": _LABELS, "annotations": _ANNOTATIONS}
        yield RBAC, "clusterroles", {"metadata": metadata, "rules": rules}
        yield (
            RBAC,
            "clusterrolebindings",
            {
                "metadata": metadata,
                "subjects": [
                    {"kind": "Group", "apiGroup": RBAC, "name": group} for group in groups
                ],
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
            },
        )
