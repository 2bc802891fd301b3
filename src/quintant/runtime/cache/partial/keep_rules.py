"""Which objects a member holds: those that map to a key it has, and those that map to nobody.

One rule stands for one declaration of one controller. An object is judged by all rules of its kind:
one key that is held is enough, and only what maps to keys of others alone is left to them. Pure but
for the question which keys are held, whose answer changes with the ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct

from quintant.core.object import Request
from quintant.runtime.observe.logs import get_logger

if TYPE_CHECKING:
    from quintant.runtime.cache.partial.partial_informer import PartialInformer

log: Final = get_logger()


class OwnKeys(Protocol):
    """One controller's keys, as far as they decide what is held."""

    @property
    def by_namespace(self) -> bool:
        """Whether all keys of a namespace stay together."""

    @property
    def together(self) -> bool:
        """Whether all keys there are do."""

    def holds(self, request: Request) -> bool:
        """Whether a key's range is ours, at work or not yet, or not any more."""

    @property
    def all_keys(self) -> AllKeys:
        """Whether every key is, as with one member alone."""


class Partition(Protocol):
    """Which keys are ours."""

    informer_type: type[PartialInformer[Any]]

    def of(self, controller: str) -> OwnKeys:
        """Those of the controller of this name."""


class AllKeys:
    """Whether every key is held here: then no object needs to be asked about.

    An attribute, for it is read with every event.
    """

    __slots__ = ("held",)

    def __init__(self, *, held: bool = False) -> None:
        self.held: bool = held


NOT_ALL: Final = AllKeys()


class KeepRule(Struct, frozen=True):
    """How one controller's declaration of a kind maps objects to its keys."""

    keys: Callable[[Any], Iterable[Request]]
    is_held: Callable[[Request], bool]
    """Whether a key's range is ours, at work or not yet, or not any more."""
    decodes: bool = False
    """Whether `keys` needs more of an object than its metadata."""
    all_keys: AllKeys = NOT_ALL
    """Whether every key of the controller is held."""


class KeepRules:
    """All rules of one kind's cache; without any, and with one that is shared, it is whole."""

    def __init__(self) -> None:
        self._rules: list[KeepRule] = []
        self.whole: bool = False
        """Whether somebody needs all objects of the kind."""
        self._decodes = False
        self._all_keys = NOT_ALL

    def add(self, rule: KeepRule | None) -> None:
        """One more declaration of the kind; None if it needs all objects."""
        if rule is None:
            self.whole = True
        else:
            self._rules.append(rule)
            self._decodes = self._decodes or rule.decodes
            self._all_keys = rule.all_keys

    def keep(self, obj: Any) -> bool:
        """Whether an object is held here."""
        return self.whole or self._all_keys.held or self.decide(obj)

    def skims(self, skimmed: Any) -> bool:
        """Whether an object is surely not held here, as far as its metadata say."""
        return not (self.decodes() or self.decide(skimmed))

    def decodes(self) -> bool:
        """Whether metadata alone never say that an object is not held, for now."""
        return self.whole or self._decodes or self._all_keys.held

    def decide(self, obj: Any) -> bool:
        """Whether an object, or the metadata of one, maps to a key of ours, or to none at all."""
        # One loop without a call in between: it is run for every event of others.
        left_to_others = False
        for rule in self._rules:
            mapped, is_held = False, rule.is_held
            try:
                for key in rule.keys(obj):
                    if is_held(key):
                        return True
                    mapped = True
            except Exception:
                # A mapper is its author's, and reports the failure where it wakes keys: what it
                # cannot map is held by all.
                log.debug("mapping failed", object=obj.metadata.name)
                mapped = False
            left_to_others = left_to_others or mapped
        return not left_to_others
