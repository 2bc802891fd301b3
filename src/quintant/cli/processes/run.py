"""Running a sharded manager in several processes: what the parent does, and what a child does."""

from __future__ import annotations

import asyncio
import sys
from functools import partial

from msgspec.structs import replace

from quintant.cli.processes.child import ChildCommand, own_command, start_child
from quintant.cli.processes.child_settings import ChildSettings
from quintant.cli.processes.count import available_processors, parse_count
from quintant.cli.processes.parent import Parent
from quintant.cli.processes.slot import ChildActions
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError
from quintant.runtime.leader.elector import replica_identity
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.loops import stop_on_signals
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe import logs
from quintant.runtime.shard.reaped import bury_reaped
from quintant.runtime.webhook.declaration import WebhookDeclarations


def check_processes(manager: Manager, text: str) -> None:
    """ConfigError if a manager cannot have so many processes."""
    parse_count(text, available_processors())
    if manager.settings.shards is None:
        raise ConfigError(
            f"manager {manager.name!r} cannot have several processes",
            because="it is not sharded, so each of them would work on every object",
            hint=f'Manager("{manager.name}", shards=True), --shards of an operator that has it, '
            "or leave --processes out",
        )
    if sys.platform == "win32":
        raise ConfigError(
            "several processes need a system that can hand a socket down",
            because="Windows does not do it as others do",
            hint="leave --processes out, and start several programs",
        )


async def run_parent(
    processes: str, log_format: logs.Format, manager: Manager, environment: Environment
) -> int:
    """Keep so many children until a signal says to stop; the exit code of the process."""
    settings, count = manager.settings, parse_count(processes, available_processors())
    if count == 1:
        return await manager.main(environment)
    if manager.settings.metrics_auth or manager.settings.metrics_certificates:
        raise ConfigError(
            "metrics that not everybody reads, of several processes",
            because="their parent serves them all together, and reviews no tokens",
            hint="leave --processes out, or put a proxy that asks before the parent",
        )
    namespace = settings.lease_namespace or environment.namespace
    leases = LeaseClient(Rest(environment.transport), namespace)
    shown = logs.format_for(sys.stderr, log_format)
    command = ChildCommand(own_command(), _relay, "console" if shown == "console" else "json")
    actions = ChildActions(
        lambda number: start_child(number, replica_identity(environment.random), command),
        partial(bury_reaped, leases, settings.name),
    )
    parent = Parent(count, actions, settings.grace, manager.json_pages)
    with stop_on_signals(settings.grace) as stopping:
        try:
            await parent.run(settings.probes, settings.metrics)
        except asyncio.CancelledError:
            return 0 if stopping() and parent.stopped_in_order else 1
    return 1


async def run_child(child: ChildSettings, manager: Manager, environment: Environment) -> int:
    """Serve as one of several; the exit code of the process.

    Where they would listen for webhooks, the first one does.
    """
    if child.number > 0:
        manager.webhooks = WebhookDeclarations(manager.name)
    return await manager.main(replace(environment, child=child.process()))


def _relay(lines: bytes) -> None:
    sys.stderr.buffer.write(lines)
    sys.stderr.buffer.flush()
