"""Admission and conversion webhooks: typed handlers, declared once, served over TLS or in process.

    declaration   what webhooks there are              admission    verdicts of typed handlers
    configuration what the API server must know
    review        bytes in, bytes out                  conversion   versions through a hub
    server        the TLS listener                     certs        its certificate, renewed
    certificate_rotation  a certificate and its successor
    secret_certificates   kept in a Secret by replicas

A handler never sees the wire, and the wire never sees a handler's exception.
"""

from quintant.runtime.webhook.admission import (
    Admission,
    Allowed,
    Denied,
    Mutator,
    Validator,
    Verdict,
    invalid,
)
from quintant.runtime.webhook.conversion import Plain, Spoke
from quintant.runtime.webhook.declaration import WebhookDeclarations
from quintant.runtime.webhook.hook import WebhookSettings

__all__ = [
    "Admission",
    "Allowed",
    "Denied",
    "Mutator",
    "Plain",
    "Spoke",
    "Validator",
    "Verdict",
    "WebhookDeclarations",
    "WebhookSettings",
    "invalid",
]
