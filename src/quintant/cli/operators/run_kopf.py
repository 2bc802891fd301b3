"""`quintant run --kopf`: handlers that were written for kopf, run until a signal says to stop."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from quintant.client.config.config import Config
from quintant.core.errors import leaf_errors
from quintant.kopf.declare.errors import ActivityError
from quintant.kopf.module import provide
from quintant.runtime.manager.environment import production_environment
from quintant.runtime.manager.loading import load
from quintant.runtime.manager.loops import loop_factory, stop_on_signals
from quintant.runtime.observe import logs

GRACE_SECONDS = 30.0
"""For daemons and cleanup handlers, before the process ends all the same."""


def run_kopf(
    target: str,
    *,
    standalone: bool,
    peering: str | None,
    priority: int | None,
    liveness: str | None,
    kubeconfig: Path | None,
    context: str | None,
    namespaces: tuple[str, ...],
    log_level: logs.Level,
    log_format: logs.Format,
) -> None:
    """Load the handlers, and serve them."""
    logs.configure(format=log_format, level=log_level)
    # What handlers log is the standard library's: it goes where ours goes.
    logging.basicConfig(level=log_level.upper(), format="%(asctime)s [%(levelname)s] %(message)s")
    provide()
    load(target)
    from quintant.kopf.run.operator import OperatorOptions

    options = OperatorOptions(
        namespaces=namespaces,
        standalone=standalone or None,
        priority=priority,
        peering_name=peering,
        liveness=liveness or "",
    )
    config = Config.load(kubeconfig, context=context) if kubeconfig else Config.discover(context)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        sys.exit(runner.run(_serve(config, options)))


async def _serve(config: Config, options: object) -> int:
    from quintant.kopf.run.operator import OperatorOptions, run_operator

    assert isinstance(options, OperatorOptions), "they were made above"
    environment = production_environment(config, service="kopf")
    try:
        with stop_on_signals(GRACE_SECONDS) as stopped:
            try:
                await run_operator(options, environment=environment)
            except asyncio.CancelledError:
                if not stopped():
                    raise
            except ActivityError as error:
                logging.getLogger("kopf").error("%s", error)
                return 1
            except ExceptionGroup as group:
                raise leaf_errors(group)[0] from None
    finally:
        await environment.close()
    return 0
