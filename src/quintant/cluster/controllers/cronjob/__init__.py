"""The CronJob controller: jobs that are made on time, and tidied away in number."""

from __future__ import annotations

from quintant.api.batch import CronJob, Job
from quintant.cluster.controllers.cronjob.reconcile import reconcile
from quintant.cluster.controllers.namespaces.terminating import unless_terminating
from quintant.runtime.manager.manager import Manager

NAME = "cronjob-controller"


def declare(manager: Manager) -> None:
    """Add the controller to a manager."""
    manager.controls(CronJob, name=NAME).owns(Job).reconcile(unless_terminating(reconcile))
