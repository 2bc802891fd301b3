"""The children of a PortalExpose: pure functions of what is declared."""

from quintant.operators.portal.builders.deployment import (
    EXPOSE_LABEL,
    EXPOSE_NAME,
    MANAGER,
    TUNNEL_LABELS,
    adoptable,
    deployment,
    deployment_name,
    labels,
)
from quintant.operators.portal.builders.key import SEED_BYTES, key_name, key_secret
from quintant.operators.portal.builders.pod import ADMIN_PORT, CONTAINER, Tunnels, target_tls

__all__ = [
    "ADMIN_PORT",
    "CONTAINER",
    "EXPOSE_LABEL",
    "EXPOSE_NAME",
    "MANAGER",
    "SEED_BYTES",
    "TUNNEL_LABELS",
    "Tunnels",
    "adoptable",
    "deployment",
    "deployment_name",
    "key_name",
    "key_secret",
    "labels",
    "target_tls",
]
