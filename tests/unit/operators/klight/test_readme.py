"""The contract says what the code does: every reason, state, phase and number of it."""

from __future__ import annotations

import re

import quintant.operators.klight as klight
from quintant.operators.klight import api, options
from quintant.operators.klight.api.lightnetwork import REPAIR, Phase
from quintant.operators.klight.options import PREFIX
from quintant.operators.klight.plan import joiner
from quintant.runtime.workqueue import attempts
from unit.operators.readme import Contract

KLIGHT = Contract(klight)
CONTRACT, PAGE = KLIGHT.text, KLIGHT.page
EVENT = re.compile(
    r'(?:(?:Complaint|Announce|Warn|Drop|Enrol|Postpone)\([^"\n]*\s*'
    r'|PlannedEvent\("\w+", |ctx\.event\(pod, |return |goal = \(|else \()"([A-Z]\w+)"'
)
PHASES = set(Phase.__args__)  # type: ignore[attr-defined]


def reasons() -> set[str]:
    """The reasons of events that the code gives."""
    return set(EVENT.findall(KLIGHT.sources)) - PHASES


def test_every_event_is_in_the_contract_and_on_the_page() -> None:
    assert {"Joined", "NotALightpeer", "Moved", "InvalidPort", "JoinFailed"} <= reasons()
    assert {each for each in reasons() if f"`{each}`" not in CONTRACT} == set()
    assert {each for each in reasons() if f"`{each}`" not in PAGE} == set()


def test_contract_names_no_event_that_nobody_gives() -> None:
    cells = [line.split("|")[-2] for line in CONTRACT.splitlines() if line.count("|") == 5]
    named = {word for cell in cells for word in re.findall("`([A-Z][A-Za-z]+)`", cell)}
    assert named - PHASES - reasons() == set()


def test_numbers_of_the_contract_are_those_of_the_code() -> None:
    given = options.Options()
    assert f"every {given.probe_interval:g} s" in CONTRACT
    assert f"checks fail for {given.down_after:g} s" in CONTRACT
    assert f"left alone for {given.settle:g} s" in CONTRACT
    assert f"after {given.gc_after / 60:g} min the LightNetwork" in CONTRACT
    assert f"after {attempts.FIRST_SECONDS:g} s, doubling to {attempts.CAP_SECONDS:g} s" in CONTRACT
    assert f"again after {joiner.LONG_SECONDS:g} s" in CONTRACT
    assert f"after {joiner.START_SECONDS:g} s `Waiting`" in CONTRACT


def test_every_phase_is_on_the_page() -> None:
    assert {each for each in PHASES if f"`{each}`" not in PAGE} == set()


def test_every_option_is_on_the_page() -> None:
    names = [name.replace("_", "-") for name in options.Options.__struct_fields__]
    assert [each for each in names if f"`{each}`" not in PAGE] == []
    assert PREFIX in PAGE


def test_every_annotation_is_on_the_page() -> None:
    keys = [text for text in vars(api).values() if str(text).startswith(f"{api.GROUP}/")]
    assert REPAIR.startswith(api.GROUP)
    assert [each for each in [*keys, REPAIR] if f"`{each.partition('/')[2]}`" not in PAGE] == []
