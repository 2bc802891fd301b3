"""The validating webhooks: what is refused, and what is let through with a word of warning.

The rules are those of the controllers, which continue to check where there are no webhooks. An
object that was stored before its rules is not caught by them: it can be labelled, and it can go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from quintant.api.core import Service
from quintant.operators.portal.api import PortalExpose, TunnelClass
from quintant.operators.portal.api.claims import Claiming, claiming_kind
from quintant.operators.portal.observe import find_tokens
from quintant.operators.portal.rules import (
    is_address,
    relay_host,
    unshared,
    validate_class,
    validate_expose,
)
from quintant.operators.portal.tunnel_class.plan import defaults, missing_class, resolve
from quintant.runtime.manager.manager import Manager
from quintant.runtime.webhook import Admission, Allowed, Verdict, WebhookSettings, invalid

# The rules need no more than a look into caches.
SETTINGS = WebhookSettings(timeout_seconds=5)
# As many users of a class are named when it goes.
_NAMED = 10


def admit(manager: Manager) -> None:
    """Declare both webhooks, at the paths and under the names of the contract."""
    kind = claiming_kind(sharded=manager.settings.shards is not None)
    manager.webhooks.validating(PortalExpose, partial(check_expose, kind), settings=SETTINGS)
    manager.webhooks.validating(
        TunnelClass,
        partial(check_class, kind),
        operations=("CREATE", "UPDATE", "DELETE"),
        settings=SETTINGS,
    )


async def check_expose(
    kind: type[Claiming], old: PortalExpose | None, new: PortalExpose | None, admission: Admission
) -> Verdict:
    """Refuse what breaks a rule; warn of what is missing, and of names that are taken."""
    if new is None or new.deleting or (old is not None and old.spec == new.spec):
        return None
    errors = tuple(validate_expose(new.spec))
    # What has no name cannot be looked for.
    unnamed = not new.spec.app.service.name
    found = [] if unnamed else [each async for each in _expose_warnings(kind, new, admission)]
    warnings = tuple(found)
    if errors:
        return invalid(*errors, warnings=warnings)
    return Allowed(warnings)


async def check_class(
    kind: type[Claiming], old: TunnelClass | None, new: TunnelClass | None, admission: Admission
) -> Verdict:
    """Refuse what breaks a rule; warn of a second default, and of a class that is in use."""
    if new is None:
        return Allowed(await _users(kind, old, admission)) if old is not None else None
    if new.deleting:
        return None
    warnings = await _rivals(old, new, admission)
    unchanged = old is not None and old.spec == new.spec
    errors = () if unchanged else tuple(validate_class(new.spec))
    return invalid(*errors, warnings=warnings) if errors else Allowed(warnings)


async def _expose_warnings(
    kind: type[Claiming], new: PortalExpose, admission: Admission
) -> AsyncIterator[str]:
    client, namespace, app = admission.client, new.metadata.namespace, new.spec.app
    if await client.find(Service, app.service.name, namespace) is None:
        yield f"Service '{app.service.name}' does not exist in namespace '{namespace}' yet"
    if resolve(new, await client.list(TunnelClass)) is None:
        yield missing_class(new)[1]
    for target in new.spec.relay.targets:
        if is_address(target.url):
            yield f"relay '{target.name}' is an IP address: there is no public URL before it"
    for warning in unshared(new.spec, await find_tokens(client, new)):
        yield warning
    wanted = _claims(new)
    for other in await client.list(kind):
        for host in sorted(wanted & _claims(other)) if other.key != new.key else ():
            yield f"'{app.name}' at {host} is claimed by PortalExpose {other.key} already"


def _claims(expose: Claiming) -> set[str]:
    """The names under which it wants to be found, at all its relays."""
    app, targets = expose.spec.app.name, expose.spec.relay.targets
    return {f"{app}.{host}" for each in targets if (host := relay_host(each.url))}


async def _rivals(
    old: TunnelClass | None, new: TunnelClass, admission: Admission
) -> tuple[str, ...]:
    if not new.default or (old is not None and old.default):
        return ()
    others = [each.metadata.name for each in defaults(await admission.client.list(TunnelClass))]
    rivals = [name for name in others if name != new.metadata.name]
    if not rivals:
        return ()
    return (f"{', '.join(rivals)} is the default already; the newest class is in force",)


async def _users(kind: type[Claiming], old: TunnelClass, admission: Admission) -> tuple[str, ...]:
    classes = await admission.client.list(TunnelClass)
    users = [
        str(each.key)
        for each in await admission.client.list(kind)
        if (chosen := resolve(each, classes)) and chosen.metadata.name == old.metadata.name
    ]
    if not users:
        return ()
    listed, more = ", ".join(sorted(users)[:_NAMED]), len(users) - _NAMED
    return (f"in use by {listed}{f' and {more} more' if more > 0 else ''}",)
