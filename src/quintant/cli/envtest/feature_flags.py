"""Feature gates, API versions and admission plugins that a command line asks for.

A gate may be set to what it is in this version anyway; a version may be asked for that is served; a
plugin may be switched off that the server has, or that it has not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.cli.envtest.flag_set import FALSE, TRUE, FlagError, invalid_value
from quintant.cli.envtest.known_words import DEFAULT_PLUGINS, GATES_OFF, GATES_ON, PLUGINS
from quintant.cluster.apiserver.admission.plugin_names import (
    NEEDS_CONTROLLERS,
    PERMANENT,
    SWITCHABLE,
)

ALL_VERSIONS, STABLE, UNSTABLE = "api/all", "api/ga", ("api/beta", "api/alpha")


def check_gates(settings: Sequence[str]) -> None:
    """FlagError for a gate that is none, or that is set otherwise than it is here."""
    for setting in settings:
        name, on = _setting("feature-gates", setting)
        name = name.removeprefix("kube:")
        if name not in GATES_ON | GATES_OFF:
            raise invalid_value("feature-gates", setting, f"unrecognized feature gate: {name}")
        if on != (name in GATES_ON):
            fixed = "true" if name in GATES_ON else "false"
            raise FlagError(
                f"--feature-gates={setting} is not supported here: it is {fixed}, and fixed"
            )


def check_runtime(settings: Sequence[str]) -> None:
    """FlagError for versions that are asked for and not served, or served and not wanted."""
    for setting in settings:
        name, on = _setting("runtime-config", setting, default=True)
        if name == ALL_VERSIONS or on != _is_served(name):
            raise FlagError(
                f"--runtime-config={setting} is not supported here: "
                f"{name} is {'not' if on else 'always'} served"
            )


def disabled_plugins(enabled: Sequence[str], disabled: Sequence[str]) -> frozenset[str]:
    """The plugins that are not asked; FlagError for those that cannot be had, or be without."""
    for flag, names in (("enable", enabled), ("disable", disabled)):
        for name in names:
            if name not in PLUGINS:
                raise FlagError(f'--{flag}-admission-plugins plugin "{name}" is unknown')
    if both := sorted(set(enabled) & set(disabled)):
        overlap = " ".join(both)
        raise FlagError(
            f"[{overlap}] in --enable-admission-plugins and --disable-admission-plugins overlapped"
        )
    for name in enabled:
        if name not in SWITCHABLE | PERMANENT or name in NEEDS_CONTROLLERS:
            raise FlagError(f"--enable-admission-plugins={name} is not supported here")
    for name in disabled:
        if name in PERMANENT:
            raise FlagError(f"--disable-admission-plugins={name} is not supported here")
    return frozenset(disabled) & SWITCHABLE | NEEDS_CONTROLLERS


def absent_plugins() -> list[str]:
    """The plugins that a real server asks by default, and that there are none of here."""
    here = (SWITCHABLE | PERMANENT) - NEEDS_CONTROLLERS
    return sorted(DEFAULT_PLUGINS - here)


def _setting(flag: str, setting: str, *, default: bool | None = None) -> tuple[str, bool]:
    name, equals, text = setting.partition("=")
    if text in (*TRUE, *FALSE):
        return name, text in TRUE
    if equals or default is None:
        raise invalid_value(flag, setting, "expected name=true or name=false")
    return name, default


def _is_served(name: str) -> bool:
    """Whether versions are served; what is none at all is not."""
    if name in (STABLE, *UNSTABLE):
        return name == STABLE
    # Loaded by those who ask for a version.
    from quintant.cluster.apiserver.registry.builtin import builtin_kinds

    version = name.removeprefix("api/") if name == "api/v1" else name
    return any(kind.resource.api_version == version for kind in builtin_kinds())
