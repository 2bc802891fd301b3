"""Portal Expose: Services under public URLs, through tunnels to relays. See README.md here."""

from __future__ import annotations

import os

from quintant.core.options import from_environment
from quintant.operators.portal.admission import admit
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.reconcile import Reconcile
from quintant.operators.portal.remote import Lines, Scraper, http_lines
from quintant.operators.portal.wiring import classes, exposes
from quintant.runtime.manager.manager import Manager


def controllers(manager: Manager, given: Options | None = None, lines: Lines = http_lines) -> None:
    """Declare everything that Portal Expose does; `lines` is how tunnels are listened to."""
    chosen = given or from_environment(Options, os.environ)
    manager.configure(**chosen.settings)
    metrics = PortalMetrics()
    manager.add_collectors(*metrics.collectors())
    manager.add(metrics.gauges.bind)
    exposes(manager, Reconcile(chosen, Scraper(lines), metrics))
    classes(manager)
    if chosen.enable_webhooks:
        admit(manager)
