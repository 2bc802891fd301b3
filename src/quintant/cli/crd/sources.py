"""Definitions as a user names them: files, modules, operators, or those of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from quintant.cli.apply.manifest_files import STDIN, SUFFIXES, JsonObject, read_manifests
from quintant.cli.look.objects import read
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError, NotFound
from quintant.core.schema.crd import Plain, crds, definitions
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.loading import load, load_manager, split_target
from quintant.runtime.manager.manager import Manager

LIVE = "live"
KIND = "CustomResourceDefinition"
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def named_definitions(target: str) -> list[JsonObject]:
    """The definitions of a file, folder, stdin, module or operator; ConfigError if it has none."""
    path = Path(target)
    if target == STDIN or path.is_dir() or path.suffix in SUFFIXES:
        found = [each.obj for each in read_manifests([path]) if each.kind == KIND]
    else:
        found = [*module_definitions(target)[0]]
    names = [each["metadata"]["name"] for each in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(
            f"cannot compare the definitions of {target}",
            because=f"it has {twice[0]} more than once",
            hint="name one version of the definitions",
        )
    if not found:
        raise ConfigError(
            f"cannot compare the definitions of {target}",
            because=f"it has no {KIND}",
            hint="a file with definitions, a module with kinds, an operator, or live",
        )
    return found


async def live_definitions(rest: Rest, names: Iterable[str]) -> list[JsonObject]:
    """Those of these definitions that a cluster has."""
    found = []
    for name in names:
        try:
            found.append(await read(rest, f"{_PATH}/{name}"))
        except NotFound:
            continue
    return found


def module_definitions(target: str) -> tuple[list[Plain], list[Manager]]:
    """The definitions of the kinds of a target, and its managers.

    A module that has no kinds of its own, but a manager of kinds that it imports, has those: what
    `quintant manifests` takes is taken here.
    """
    if target in OPERATORS:
        managers = [manager_of(target)]
    else:
        path, name = split_target(target)
        module = load(path)
        found = crds(module)
        managers = [each for each in vars(module).values() if isinstance(each, Manager)]
        if found and not name:
            return found, managers
        if managers or name:
            managers = [load_manager(target)]
    return definitions(kind for manager in managers for kind in manager.kinds()), managers
