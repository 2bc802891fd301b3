"""Finding scenarios: those of a file or module, and the file of a scenario."""

from __future__ import annotations

import inspect

from quintant.core.errors import ConfigError
from quintant.runtime.manager.loading import load
from quintant.testing.explore.scenario import Scenario, scenarios_of


def load_scenarios(target: str) -> dict[str, type[Scenario]]:
    """The scenarios of `file.py` or `some.module`, or the one of `file.py:Name`, by target."""
    module, name = _split(target)
    found = scenarios_of(load(module))
    chosen = {f"{module}:{each.__name__}": each for each in found if name in ("", each.__name__)}
    if not chosen:
        names = ", ".join(each.__name__ for each in found)
        raise ConfigError(
            f"cannot explore {target}",
            because=f"{module} defines {f'the scenarios {names}' if names else 'no scenario'}",
            hint="define one: class Greeting(quintant.testing.Scenario)",
        )
    return chosen


def load_scenario(target: str) -> type[Scenario]:
    """The one scenario that a target names; ConfigError if there are several."""
    found = load_scenarios(target)
    if len(found) > 1:
        raise ConfigError(
            f"cannot choose a scenario of {target}",
            because=f"it defines {', '.join(each.__name__ for each in found.values())}",
            hint=next(iter(found)),
        )
    return next(iter(found.values()))


def target_of(scenario: type[Scenario]) -> str:
    """Where another process finds a scenario; empty if it cannot."""
    module = inspect.getmodule(scenario)
    if module is None or vars(module).get(scenario.__name__) is not scenario:
        return ""
    try:
        return f"{inspect.getfile(scenario)}:{scenario.__name__}"
    except (TypeError, OSError):
        return ""


def _split(target: str) -> tuple[str, str]:
    module, colon, name = target.rpartition(":")
    return (module, name) if colon and name.isidentifier() else (target, "")
