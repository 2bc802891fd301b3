"""The events of a Cluster that follow from its conditions: which, and in which words. Pure.

What is reported of single requests (Created, Updating, Deleting …) stands with the steps that make
them, and the scheduler warns of Clusters that have had no cloud for a while.
"""

from __future__ import annotations

from quintant.operators.infra.plan.status import (
    API_SERVER_REACHABLE,
    BINDING_MISMATCH,
    CREDENTIALS_VALID,
    DELETING,
    INFRASTRUCTURE_READY,
    KUBECONFIG_READY,
    NODES_HEALTHY,
    PROVIDER_REACHABLE,
    READY,
    SCHEDULED,
    STALLED,
    TEMPLATE_DRIFT,
    TEMPLATE_VALID,
)
from quintant.runtime.events.transitions import Transition

TRANSITIONS = (
    Transition(SCHEDULED, "True", type="Normal", event="Scheduled"),
    Transition(SCHEDULED, "False", "InvalidConstraint"),
    Transition(PROVIDER_REACHABLE, "False", event="ProviderUnreachable"),
    Transition(CREDENTIALS_VALID, "False", event="Unauthorized"),
    Transition(TEMPLATE_VALID, "False", event="TemplateInvalid"),
    Transition(TEMPLATE_DRIFT, "True", event="TemplateDrift"),
    Transition(BINDING_MISMATCH, "True", event="BindingMismatch"),
    Transition(INFRASTRUCTURE_READY, "False"),
    Transition(KUBECONFIG_READY, "False"),
    Transition(API_SERVER_REACHABLE, "False", event="Offline"),
    Transition(NODES_HEALTHY, "False"),
    Transition(READY, "True", type="Normal", event="Online"),
    Transition(DELETING, "True", "DeleteFailed"),
    Transition(DELETING, "True", "CloudNotFound"),
    Transition(STALLED, "True", event="Stalled"),
)
"""One event per transition, and none per retry."""
