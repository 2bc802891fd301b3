"""Loading what a user names: a Python file, or a module by its dotted name.

As with `python FILE` the file's folder, and as with `python -m NAME` the current one, comes first
on the import path. The module is imported, never run as a program: `if __name__ == "__main__"` is
not entered. Errors inside the user's code keep their traceback; failed imports are explained.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from quintant.core.errors import ConfigError

if TYPE_CHECKING:  # who loads handlers of kopf has no manager
    from quintant.runtime.manager.manager import Manager

# Keeps a user's json.py from standing in for the json of all other code.
FILE_PREFIX = "quintant_file_"


def load(target: str) -> ModuleType:
    """The module a path (`greeter.py`) or dotted name (`shop.greeter`) means."""
    by_path = target.endswith(".py") or os.sep in target
    try:
        return _load_file(Path(target)) if by_path else _load_name(target)
    except SyntaxError as error:
        raise ConfigError(
            f"cannot load {target}",
            because=f"{error.msg} ({error.filename}, line {error.lineno})",
        ) from error
    except ImportError as error:
        raise ConfigError(
            f"cannot load {target}",
            because=str(error),
            hint=_hint(target, error),
        ) from error


def load_manager(target: str) -> Manager:
    """The Manager that a module or file declares at its top level, all of it ended.

    Of several, `shops.py:manager` or `shop.greeter:manager` names the variable.
    """
    from quintant.runtime.manager.manager import Manager

    module, wanted = split_target(target)
    found = {
        name: value for name, value in vars(load(module)).items() if isinstance(value, Manager)
    }
    manager = _chosen(module, found, wanted)
    manager.check()
    return manager


def split_target(target: str) -> tuple[str, str]:
    """The module or file of a target, and the variable that it names behind a colon, if any."""
    module, colon, name = target.rpartition(":")
    return (module, name) if colon and name.isidentifier() else (target, "")


def _chosen(module: str, managers: Mapping[str, Manager], wanted: str) -> Manager:
    if wanted in managers:
        return managers[wanted]
    names = ", ".join(f'{name} = Manager("{managers[name].name}")' for name in managers)
    if wanted:
        raise ConfigError(
            f"cannot use {module}:{wanted}",
            because=f"{module} has at its top level {names or 'no Manager'}",
            hint=f"{module}:{next(iter(managers), 'manager')}",
        )
    # Two names of one manager leave nothing to choose.
    if len(set(managers.values())) == 1:
        return next(iter(managers.values()))
    if managers:
        raise ConfigError(
            f"cannot choose a manager of {module}",
            because=f"it declares {len(managers)} at its top level: {names}",
            hint=" or ".join(f"{module}:{name}" for name in managers),
        )
    raise ConfigError(
        f"cannot use {module}",
        because="it declares no manager at its top level",
        hint='manager = Manager("name")',
    )


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(
            f"cannot load {path}",
            because="there is no such file" if not path.exists() else "it is not a file",
            hint="give a .py file, or the dotted name of a module",
        )
    name = FILE_PREFIX + path.stem
    _put_first(path.resolve().parent)
    spec = spec_from_file_location(name, path)
    assert spec is not None, "a .py file has a loader"
    assert spec.loader is not None, "a .py file has a loader"
    module = module_from_spec(spec)
    # Type hints of its classes are looked up here by module name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _load_name(name: str) -> ModuleType:
    _put_first(Path.cwd())
    return importlib.import_module(name)


def _put_first(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _hint(target: str, error: ImportError) -> str:
    missing = error.name or ""
    if isinstance(error, ModuleNotFoundError) and f"{target}.".startswith(f"{missing}."):
        return "run it where the module is importable, or give the path of its .py file"
    return f"install {missing.partition('.')[0]} into this environment" if missing else ""
