"""klight: joins pods labelled `klight.networkId` into networks of lightpeers.

The key of the controller is the network: a namespace and the label's value. See README.md for what
wakes it and what it does.
"""

from __future__ import annotations

import os
from pathlib import Path

from quintant.operators.klight.alerts import ALERTS
from quintant.operators.klight.api import GROUP, PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.lightnetwork.report import WORD, networks
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.reader import Keys
from quintant.operators.klight.options import Options, from_environment
from quintant.operators.klight.reconcile import LightNetworkReconciler
from quintant.operators.klight.remote import Peers
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source import predicates as when

TURN_SECONDS = 300.0
"""One turn joins for seconds; each call in it has a deadline of its own."""


def controllers(
    manager: Manager, options: Options | None = None, remote: Peers | None = None
) -> None:
    """Declare the controller of networks; `remote` is how peers are spoken to, over gRPC."""
    options = options or from_environment(os.environ)
    keys, metrics = Keys(options), KlightMetrics()
    manager.operator(metrics=metrics, alerts=ALERTS)
    manager.serve_json(WORD, networks)
    calls = manager.remote_calls
    reconcile = LightNetworkReconciler(
        options, lambda: calls.guard(remote or _connected(options), Peers, "peers"), metrics
    )
    (
        manager.keyed("klight")
        .watches(
            PeerPod,
            to=keys.of_pod,
            when=when.changed(keys.aspects),
            labels={options.label: ""},
            index=keys.indexes,
            shared=True,
        )
        .watches(
            LightNetwork,
            to=keys.of_lightnetwork,
            when=when.generation | when.annotation(f"{GROUP}/*"),
            shared=True,
        )
        .uses(PeerPod, "patch", sub="status")
        .uses(LightNetwork, "create", "delete")
        .uses(LightNetwork, "patch", sub="status")
        .workers(options.workers)
        .timeout(TURN_SECONDS)
        .on_released(reconcile.states.forget)
        .reconcile(reconcile)
    )


def _connected(options: Options) -> Peers:
    # Loaded by who speaks it: a process that only reads the declarations may be about to fork.
    from quintant.operators.klight.remote.grpc_peers import GrpcPeers

    return GrpcPeers(token_file=Path(options.token_file) if options.token_file else None)
