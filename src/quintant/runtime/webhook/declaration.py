"""The webhooks of a manager: declarations only, bound to nothing until they are served.

    webhooks.validating(PortalExpose, check_expose)
    webhooks.mutating(PortalExpose, fill_in)
    webhooks.converting(PortalExpose, {"v1alpha1": Spoke(to_hub=up, from_hub=down)})

The same declarations answer reviews (`review.ReviewHandler`) and make the configurations that tell
an API server when to ask, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from quintant.api.admission import CustomResourceConversion
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.errors import ConfigError
from quintant.core.object import K, Object
from quintant.core.resource import resource_of
from quintant.runtime.webhook import configuration
from quintant.runtime.webhook.admission import Mutator, Validator, mutate, validate
from quintant.runtime.webhook.configuration import Configuration, WebhookEndpoint
from quintant.runtime.webhook.conversion import KindConversion, Spoke
from quintant.runtime.webhook.hook import (
    Operation,
    WebhookHandler,
    WebhookSettings,
    default_name,
    default_path,
)

CONVERT = "/convert"
"""The path of conversion reviews, for all kinds."""

STORED: tuple[Operation, ...] = ("CREATE", "UPDATE")
"""The operations that store an object."""


class WebhookDeclarations:
    """The admission and conversion webhooks of a manager."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._kinds: dict[type[Object], None] = {}
        self._partial: set[type[Object]] = set()
        self._hooks: dict[str, WebhookHandler] = {}
        self._conversions: dict[tuple[str, str], KindConversion] = {}

    def __bool__(self) -> bool:
        """Whether any was declared, so that a server is needed."""
        return bool(self._hooks or self._conversions)

    @property
    def hooks(self) -> tuple[WebhookHandler, ...]:
        """Every admission webhook, in the order of their paths."""
        return tuple(hook for _, hook in sorted(self._hooks.items()))

    @property
    def kinds(self) -> tuple[type[Object], ...]:
        """Every kind that is judged, amended or converted, each once.

        Left out are those with versions whose classes are not known: a definition made here would
        take those versions away.
        """
        return tuple(kind for kind in self._kinds if kind not in self._partial)

    @property
    def conversions(self) -> Mapping[tuple[str, str], KindConversion]:
        """Every conversion, by group and kind."""
        return self._conversions

    def validating(
        self,
        kind: type[K],
        validator: Validator[K],
        *,
        operations: Sequence[Operation] = STORED,
        path: str = "",
        name: str = "",
        settings: WebhookSettings = WebhookSettings(),
    ) -> None:
        """Have changes to a kind judged: `await validator(old, new, admission)`."""
        resource = resource_of(kind)
        self._add(
            kind,
            WebhookHandler(
                "validate",
                resource,
                tuple(operations),
                path or default_path("validate", resource),
                name or default_name("validate", resource),
                settings,
                partial(validate, kind, validator),
            ),
        )

    def mutating(
        self,
        kind: type[K],
        mutator: Mutator[K],
        *,
        operations: Sequence[Operation] = STORED,
        path: str = "",
        name: str = "",
        settings: WebhookSettings = WebhookSettings(),
    ) -> None:
        """Have objects of a kind amended before they are stored: `await mutator(new, admission)`.

        The declared fields that the mutator changed are patched, and no others.
        """
        resource = resource_of(kind)
        if "DELETE" in operations:
            raise ConfigError(
                f"cannot mutate {resource.kind} on DELETE", because="nothing is stored then"
            )
        self._add(
            kind,
            WebhookHandler(
                "mutate",
                resource,
                tuple(operations),
                path or default_path("mutate", resource),
                name or default_name("mutate", resource),
                settings,
                partial(mutate, kind, mutator),
            ),
        )

    def converting(self, hub: type[Object], spokes: Mapping[str, Spoke]) -> None:
        """Have a kind converted between its versions: that of `hub`, and those of the spokes."""
        resource = resource_of(hub)
        key = resource.group, resource.kind
        if key in self._conversions:
            raise _twice(f"conversion of {resource.kind}")
        if resource.version in spokes:
            raise ConfigError(f"{resource.kind} {resource.version} cannot be both hub and spoke")
        self._conversions[key] = KindConversion(resource, dict(spokes))
        versions = [spoke.kind for spoke in spokes.values() if spoke.kind is not None]
        self._kinds |= dict.fromkeys((hub, *versions))
        if len(versions) < len(spokes):
            self._partial |= {hub, *versions}

    def targets(self) -> list[tuple[type[Object], str]]:
        """Kind and name of every object that says whom to trust for these webhooks."""
        made = configuration.webhook_configurations(self.name, self.hooks, "https://", b"")
        converted = [declared.hub.full_name for declared in self._conversions.values()]
        return [
            *((type(each), each.metadata.name) for each in made),
            *((CustomResourceDefinition, name) for name in converted),
        ]

    def configurations(
        self,
        endpoint: WebhookEndpoint,
        *,
        ca_bundle: bytes = b"",
        namespaces: Sequence[str] = (),
    ) -> tuple[Configuration, ...]:
        """The objects that make an API server ask these webhooks at `endpoint`.

        `ca_bundle` is PEM; leave it empty where something else fills it in, such as cert-manager.
        With `namespaces`, what is in others is not asked about, unless a hook has a selector of
        its own.
        """
        return configuration.webhook_configurations(
            self.name, self.hooks, endpoint, ca_bundle, namespaces
        )

    def conversion(
        self, endpoint: WebhookEndpoint, *, ca_bundle: bytes = b""
    ) -> CustomResourceConversion:
        """The `spec.conversion` for the definitions of the kinds that are converted here."""
        return configuration.crd_conversion(CONVERT, endpoint, ca_bundle)

    def _add(self, kind: type[Object], hook: WebhookHandler) -> None:
        if not hook.path.startswith("/"):
            raise ConfigError(f"{hook.path!r} is not a path", because="a path starts with a slash")
        if hook.path == CONVERT or hook.path in self._hooks:
            raise _twice(f"webhook at {hook.path}")
        if any(other.name == hook.name for other in self._hooks.values()):
            raise _twice(f"webhook {hook.name}")
        self._hooks[hook.path] = hook
        self._kinds[kind] = None


def _twice(what: str) -> ConfigError:
    return ConfigError(f"there are two declarations of the {what}", hint="rename or drop one")
