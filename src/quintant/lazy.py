"""Public names loaded when first used (PEP 562): a program pays only for what it touches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def lazy(
    package: str, homes: Mapping[str, str], *, modules: Collection[str] = ()
) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names live in the modules that `homes` says.

    For the names in `modules` it is the module itself that is meant, not something in it.
    """

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home)
        return module if name in modules else getattr(module, name)

    return get
