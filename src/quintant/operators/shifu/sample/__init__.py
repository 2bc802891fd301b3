"""A factory floor: three nodes that run processes, two dozen that are simulated, twelve devices.

Devices of all six protocols are processes of this machine, as are their deviceShifus and the broker
between them. The look is a caller's: every device answers an instruction through its Service, and
edgeMap says where the pods are. Then Berlin dies, and what ran there answers from elsewhere.
"""

from __future__ import annotations

from quintant.operators.shifu.api.names import DEVICES
from quintant.operators.shifu.sample.caller import look
from quintant.operators.shifu.sample.floor import (
    EDGEMAP,
    EDGEMAP_PORT,
    FAULT,
    HOME,
    SHIFUS,
    nodes_and_programs,
)
from quintant.runtime.manager.sample import Sample

_EDGEMAP = (
    f"$(kubectl -n {HOME} get service {EDGEMAP} -o jsonpath='{{.spec.clusterIP}}'):{EDGEMAP_PORT}"
)

SAMPLE = Sample(
    DEVICES,
    nodes_and_programs(),
    look,
    (
        f"kubectl -n {DEVICES} get edgedevices; kubectl get edgenodes",
        f"curl {_EDGEMAP}/edgemap.txt",
        f"curl {_EDGEMAP}/api/explain/{DEVICES}/camera",
        f"kubectl annotate node paris {FAULT}=dead; kubectl -n {DEVICES} get edgedevices --watch",
        f"kubectl annotate node paris berlin {FAULT}-",
    ),
    also=(SHIFUS,),
    settings={
        "EDGEMAP_ADDR": f"[$(POD_IP)]:{EDGEMAP_PORT}",
        "COLLECT_PERIOD": "5s",
        "NODE_LOST_AFTER": "1s",
        "NODE_STABLE_AFTER": "10s",
        "SETTLE_DELAY": "1s",
    },
    node_grace=6.0,
)
