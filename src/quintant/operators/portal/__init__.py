"""Portal Expose: Services under public URLs, through tunnels to relays. See README.md here."""

from __future__ import annotations

import os

from quintant.api.apps import Deployment
from quintant.api.core import Pod, Secret, Service
from quintant.core.options import from_environment
from quintant.operators.portal import observe, tunnel_class
from quintant.operators.portal.act import Seed, fresh_seed
from quintant.operators.portal.admission import admit
from quintant.operators.portal.alerts import ALERTS
from quintant.operators.portal.api import (
    FINALIZER,
    KEY_TYPE,
    TOKEN_TYPE,
    PortalExpose,
    RelayToken,
    TunnelClass,
    TunnelKey,
)
from quintant.operators.portal.api.claims import ExposeClaims, nobody
from quintant.operators.portal.builders import MANAGER, TUNNEL_LABELS
from quintant.operators.portal.cleanup import cleanup
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.observe import CLASS_INDEX, POD_INDEX, SERVICE_INDEX, TOKEN_INDEX
from quintant.operators.portal.options import Options
from quintant.operators.portal.reconcile import PortalExposeReconciler
from quintant.operators.portal.remote import TunnelLines, http_lines, reports_by, same
from quintant.runtime.controller.declaration import by_index
from quintant.runtime.manager.manager import Manager
from quintant.runtime.source.follower import Follower
from quintant.runtime.source.predicates import changed, deleted


def controllers(
    manager: Manager, options: Options | None = None, remote: TunnelLines | None = None
) -> None:
    """Declare everything that Portal Expose does; `remote` is how tunnels are listened to."""
    options = options or from_environment(Options, os.environ)
    metrics = PortalMetrics(sharded=manager.settings.shards is not None)
    manager.operator(options, metrics=metrics, alerts=ALERTS)
    declare(manager, options, remote or http_lines, metrics)
    tunnel_class.controllers(manager)
    if options.enable_webhooks:
        admit(manager)


def declare(
    manager: Manager,
    options: Options,
    remote: TunnelLines,
    metrics: PortalMetrics,
    seed: Seed = fresh_seed,
) -> None:
    """Declare the controller of PortalExposes; `seed` is what keys are made from."""
    reports = Follower(reports_by(remote, metrics.visits.inc), same=same)
    controller = (
        manager.controls(PortalExpose, name=MANAGER, when=observe.CHANGED)
        .index(SERVICE_INDEX, observe.service_key)
        .index(TOKEN_INDEX, observe.token_keys)
        .index(CLASS_INDEX, observe.class_name)
        .owns(Deployment)
        .watches(Deployment, to=observe.namesake, when=deleted)
        .watches(
            Pod,
            to=observe.expose_of,
            when=changed(observe.pod_aspects),
            labels=TUNNEL_LABELS,
            index={POD_INDEX: observe.pod_key},
        )
        .watches(
            Service,
            to=by_index(SERVICE_INDEX),
            when=changed(observe.service_aspects),
            shared=True,
        )
        .watches(RelayToken, to=by_index(TOKEN_INDEX), fields={"type": TOKEN_TYPE}, shared=True)
        .watches(TunnelKey, to=observe.key_users, when=deleted, fields={"type": KEY_TYPE})
        .uses(Secret, "create")
        .watches(
            TunnelClass,
            to=by_index(CLASS_INDEX, observe.affected),
            when=tunnel_class.CHANGED,
            shared=True,
        )
        .on(reports)
    )
    if manager.settings.shards is not None:
        controller.watches(ExposeClaims, to=nobody, shared=True)
    (
        controller.workers(options.max_concurrent_reconciles)
        .finalize(FINALIZER, cleanup)
        .reconcile(PortalExposeReconciler(options, reports, metrics, seed))
    )
