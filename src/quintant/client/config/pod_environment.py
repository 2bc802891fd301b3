"""What a pod is given to find its API server, by name: shared by who reads it and who sets it.

Constants alone, so that a node which sets them loads nothing of a client.
"""

from __future__ import annotations

from pathlib import Path

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where the kubelet puts the token, the authority and the namespace of a pod's service account."""
MOUNT_VARIABLE = "QUINTANT_SERVICE_ACCOUNT"
"""Where they are instead, on a node that can mount nothing: set by the embedded cluster's."""
ISOLATED = "QUINTANT_ISOLATED"
"""Set for our programs in pods of the embedded cluster: a kubeconfig there may be anybody's."""
