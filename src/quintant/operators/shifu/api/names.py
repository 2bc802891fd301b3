"""The words that objects of shifu carry: group, labels, annotations, namespaces."""

from __future__ import annotations

GROUP = "shifu.edgenesis.io"
VERSION = "v1alpha1"

MANAGER = "shifu-controller"
"""The controller: its field manager, and the value of `managed-by` on what it composes."""
MANAGED_BY = "app.kubernetes.io/managed-by"
OURS = {MANAGED_BY: MANAGER}

DEVICE_LABEL = f"{GROUP}/edgedevice"
"""The name of the device that an object belongs to; a longer one is cut, and made unique."""
DEVICE_NAMESPACE_LABEL = f"{GROUP}/edgedevice-namespace"
DEVICE_UID_LABEL = f"{GROUP}/edgedevice-uid"
"""The device whose pods a Service selects: by uid, for a namesake is another device."""
REVISION_LABEL = f"{GROUP}/compose-hash"

PLACED_NODE = f"{GROUP}/placed-node"
PLACED_AT = f"{GROUP}/placed-at"
PLACED_FOR = f"{GROUP}/placed-for"
"""The annotation with a digest of what the place was chosen for: another one chooses anew."""
PLACEMENT_KIND = f"{GROUP}/placement-kind"
PLACEMENT_REASON = f"{GROUP}/placement-reason"
MOVED_FOR = f"{GROUP}/moved-for"
"""The annotation with what made it move: whoever comes to write its status can tell."""
MOVES = f"{GROUP}/moves"
PREVIOUS_NODE = f"{GROUP}/previous-node"
CONFIG_HASH = f"{GROUP}/config-hash"

EDGE_NODE_LABEL = f"{GROUP}/edgenode"
"""On a Node: "false" keeps it from being an edge node."""
MIRRORED_LABEL = f"{GROUP}/mirrored"
"""On an EdgeNode: "true" says that the mirror made it, and may take it away."""
LOCATION = f"{GROUP}/location"
SIMULATED_POD = "simulated.quintant.dev/pod"
"""On a pod of an embedded cluster: "true" says that no process is behind it."""
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"

DEVICES = "devices"
"""The namespace in which EdgeDevices usually are."""
TELEMETRY_NAMESPACE = "shifu-service"
NAME_VARIABLE, NAMESPACE_VARIABLE = "EDGEDEVICE_NAME", "EDGEDEVICE_NAMESPACE"
"""How every deviceShifu is told its device, ours and those of users."""
