"""Promises of quintant.runtime.cache.partial.keep_rules."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from quintant.core.object import Object, Request
from quintant.runtime.cache.partial.keep_rules import AllKeys, KeepRule, KeepRules
from unit.runtime.kinds import ship

OURS, THEIRS = Request("ours"), Request("theirs")


def rule(*keys: Request, decodes: bool = False) -> KeepRule:
    return KeepRule(lambda obj: keys, lambda key: key == OURS, decodes)


def rules(*given: KeepRule | None) -> KeepRules:
    made = KeepRules()
    for each in given:
        made.add(each)
    return made


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([rule(OURS)], True),
        ([rule(THEIRS)], False),
        ([rule()], True),
        ([rule(THEIRS, OURS)], True),
        ([rule(THEIRS), rule(OURS)], True),
        ([rule(), rule(THEIRS)], False),
        ([rule(THEIRS), None], True),
    ],
)
def test_one_key_that_is_held_is_enough_and_nobodys_is_everybodys(
    given: list[KeepRule | None], kept: bool
) -> None:
    assert rules(*given).keep(ship()) is kept
    assert rules(*given).skims(ship()) is not kept


def test_what_must_be_decoded_to_be_judged_is_never_skimmed() -> None:
    made = rules(rule(THEIRS), rule(THEIRS, decodes=True))
    assert not made.skims(ship())
    assert not made.keep(ship())


def test_an_object_at_which_a_mapper_fails_is_held() -> None:
    def fails(obj: Object) -> Iterable[Request]:
        raise KeyError("label")

    assert rules(KeepRule(fails, lambda key: False)).keep(ship())


def test_who_holds_every_key_asks_about_no_object() -> None:
    asked: list[Object] = []

    def keys(obj: Object) -> Iterable[Request]:
        asked.append(obj)
        return (THEIRS,)

    everything = AllKeys(held=True)
    made = rules(KeepRule(keys, lambda key: False, all_keys=everything))
    assert made.keep(ship())
    assert not made.skims(ship())
    assert not asked
    everything.held = False
    assert not made.keep(ship())
    assert made.skims(ship())
