"""`import kopf`, answered with the names that are here: `provide` puts them where it looks.

The handlers' file says `import kopf`, and kopf need not be installed; if it is, it is not used. So
a module of that name stands in `sys.modules` from before the file is loaded. What kopf has and this
has not is refused when it is looked up, by its name: a file that uses it does not load.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from quintant.core.errors import ConfigError

NAME = "kopf"
VERSION = "1.45"
"""The version of kopf whose names these are."""
UNSUPPORTED = frozenset(
    {
        "AiohttpSession", "AsyncDaemonStopperChecker", "SyncDaemonStopperChecker", "WebhookFn",
        "WebhookServerProtocol", "login_via_async_client", "run_tasks", "spawn_tasks",
    }
)  # fmt: skip
"""What kopf has and this has not."""


class Unsupported(ConfigError, ImportError):
    """A name of kopf that is not here."""


class _Kopf(ModuleType):
    """The module itself."""

    def __getattr__(self, name: str) -> Any:
        if name in UNSUPPORTED:
            raise Unsupported(
                f"cannot provide kopf.{name}",
                because="handlers run on Quintant, and it has no counterpart here",
                hint="docs/from-kopf.md says what takes its place",
            )
        raise AttributeError(f"module 'kopf' has no attribute {name!r}")


class _Testing(ModuleType):
    """`kopf.testing`, loaded when a test wants something of it: operators at work never do."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the machinery of imports asks every module for
            raise AttributeError(name)
        from quintant.kopf import testing

        return getattr(testing, name)


def provide() -> ModuleType:
    """Have `import kopf` give the names that are here, from now on in this process."""
    held = sys.modules.get(NAME)
    if isinstance(held, _Kopf):
        return held
    from quintant.kopf import public
    from quintant.kopf.declare import lifecycles, on

    made = _Kopf(NAME, "Handlers of kopf, on Quintant.")
    made.__dict__.update({name: getattr(public, name) for name in public.__all__})
    made.__dict__.update(__version__=VERSION, __all__=list(public.__all__))
    made.__dict__["testing"] = testing = _Testing(f"{NAME}.testing")
    sys.modules.update(
        {NAME: made, f"{NAME}.on": on, f"{NAME}.lifecycles": lifecycles, testing.__name__: testing}
    )
    return made
