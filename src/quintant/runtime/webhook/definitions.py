"""The definitions of kinds that a manager converts: each names the webhook that does it.

A definition with two versions and no conversion makes an API server rename objects and prune what
the other version does not know: their contents are lost at the first write. So a definition is
made with its conversion, or not at all. Until the webhook answers, requests that need it fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quintant.core.errors import ConfigError
from quintant.core.object import Object, Opaque
from quintant.core.schema.crd import definitions
from quintant.runtime.webhook.configuration import WebhookEndpoint
from quintant.runtime.webhook.conversion import KindConversion
from quintant.runtime.webhook.declaration import WebhookDeclarations

Plain = dict[str, Any]


def converted_definitions(
    kinds: Iterable[type[Object]], webhooks: WebhookDeclarations, endpoint: WebhookEndpoint
) -> list[Plain]:
    """The definitions of these kinds; of those that are converted, with where to ask.

    ConfigError if a version that is converted has no class: the definition would take it away.
    """
    return [_converted(definition, webhooks, endpoint) for definition in definitions(kinds)]


def unconverted(
    crds: Iterable[Plain], declarations: Iterable[WebhookDeclarations]
) -> Iterator[str]:
    """The names of definitions whose kinds are converted, yet do not say where to ask."""
    keys = {key for webhooks in declarations for key in webhooks.conversions}
    for definition in crds:
        spec = definition["spec"]
        if (spec["group"], spec["names"]["kind"]) in keys and "conversion" not in spec:
            yield definition["metadata"]["name"]


def _converted(
    definition: Plain, webhooks: WebhookDeclarations, endpoint: WebhookEndpoint
) -> Plain:
    spec = definition["spec"]
    declared = webhooks.conversions.get((spec["group"], spec["names"]["kind"]))
    if declared is None:
        return definition
    _check_versions(definition, declared)
    # What @resource(conversion=...) says is the user's own word.
    conversion = spec.get("conversion") or Opaque.of(webhooks.conversion(endpoint)).value
    return definition | {"spec": spec | {"conversion": conversion}}


def _check_versions(definition: Plain, declared: KindConversion) -> None:
    known = {version["name"] for version in definition["spec"]["versions"]}
    missing = sorted({declared.hub.version, *declared.spokes} - known)
    if missing:
        raise ConfigError(
            f"cannot define {definition['metadata']['name']}",
            because=f"it is converted from and to {', '.join(missing)}, whose class is not known",
            hint=f"Spoke(..., kind=...) names the class of {missing[0]}",
        )
