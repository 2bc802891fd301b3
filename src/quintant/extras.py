"""What is not installed with Quintant itself: which command needs it, and how to get it.

An extra is asked for by name before anything of it is imported, so that a user who lacks it reads
three lines, and not a traceback from the middle of a module.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

CLUSTER = "cluster"
"""What only the embedded cluster needs; an operator on a real one does without."""
EXTRAS = {
    CLUSTER: ("cel_expr_python", "re2", "rich"),
    "cosmos": ("lz4", "zstandard"),
    "devices": ("asyncua", "pymodbus"),
    "klight": ("grpc",),
    "otel": ("opentelemetry",),
}
"""Every extra of the package, and the modules that it brings."""

NEEDED_BY = {
    "demo": CLUSTER,
    "envtest": CLUSTER,
    "explore": CLUSTER,
    "fork": CLUSTER,
    "klight": "klight",
    "klightpeer": "klight",
    "lightpeer": "klight",
    "mockdevice-modbus": "devices",
    "mockdevice-opcua": "devices",
    "replay": CLUSTER,
    "up": CLUSTER,
}
"""The operators, agents and commands that need an extra, by their names."""

USED_BY = {"cosmosnode": "cosmos", "operator": "otel", "run": "otel"}
"""Those that do most of their work without one, and name it when they lack it."""


def missing(name: str) -> str:
    """The first module that an operator, agent or command needs and does not find, or nothing."""
    return _missing_module(NEEDED_BY[name]) if name in NEEDED_BY else ""


def require(*names: str) -> None:
    """Fail unless everything these operators, agents or commands need is installed."""
    for name in names:
        if name in NEEDED_BY:
            require_extra(NEEDED_BY[name], name)


@cache
def require_extra(extra: str, name: str) -> None:
    """Fail unless an extra is installed, which something of that name needs."""
    # Programs of pods ask what is missing, and load nothing of the runtime for it.
    from quintant.core.errors import ConfigError
    from quintant.origin import install_hint

    if module := _missing_module(extra):
        raise ConfigError(
            f"cannot run {name}",
            because=f"it needs the module {module}, which is not installed",
            hint=install_hint(extra),
        )


def _missing_module(extra: str) -> str:
    return next((module for module in EXTRAS[extra] if find_spec(module) is None), "")
