"""Who reaches the port of klight's peers, whose protocol asks nobody who he is."""

from __future__ import annotations

from typing import Any

from quintant.cli.operators.klight import NAME as KLIGHT
from quintant.operators import OPERATORS
from quintant.operators.klight.api import LABEL
from quintant.wire.lightpeer import PORT

CLIENT = "klight.quintant.dev/client"
"""The label of pods that read and write a chain from beside its peers."""
NAME_LABEL = "app.kubernetes.io/name"


def peers_policy() -> dict[str, Any]:
    """The policy for a namespace with peers."""
    peers = {"matchExpressions": [{"key": LABEL, "operator": "Exists"}]}
    clients = {"matchLabels": {CLIENT: "true"}}
    name, home = OPERATORS["klight"].name, OPERATORS["klight"].namespace
    controllers = {"key": NAME_LABEL, "operator": "In", "values": [name, KLIGHT]}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "klight-peers"},
        "spec": {
            "podSelector": peers,
            "policyTypes": ["Ingress"],
            "ingress": [
                {
                    "from": [
                        {"podSelector": peers},
                        {"podSelector": clients},
                        {"podSelector": {"matchExpressions": [controllers]}},
                        {
                            "namespaceSelector": {
                                "matchLabels": {"kubernetes.io/metadata.name": home}
                            },
                            "podSelector": {"matchExpressions": [controllers]},
                        },
                    ],
                    "ports": [{"protocol": "TCP", "port": PORT}],
                },
                # What else their pods serve is no business of this policy.
                {
                    "ports": [
                        {"protocol": protocol, "port": first, "endPort": last}
                        for protocol in ("TCP", "UDP")
                        for first, last in ((1, PORT - 1), (PORT + 1, 65535))
                    ]
                },
            ],
        },
    }
