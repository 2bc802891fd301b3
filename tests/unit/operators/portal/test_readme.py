"""The contract beside the code says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from quintant.api.events import PlannedEvent
from quintant.operators import portal
from quintant.operators.portal.metrics import PortalMetrics
from quintant.operators.portal.options import Options
from quintant.operators.portal.plan import events, kstatus
from quintant.operators.portal.tunnel_class.plan import TRANSITIONS
from unit.operators.readme import Contract, served, watched

CONTRACT = Contract(portal)


def test_every_event_of_the_code_is_listed_with_its_type_and_text() -> None:
    listed = {reason: (type, text) for type, reason, text in CONTRACT.rows("Events")}
    fixed = [each for each in vars(events).values() if isinstance(each, PlannedEvent)]
    assert len(fixed) == 8
    for notice in fixed:
        assert listed[notice.reason] == (notice.type, notice.note)
    literal = set(re.findall(r'PlannedEvent\(\s*"\w+", "(\w+)"', CONTRACT.sources))
    reasons = {each.event or each.reason for each in (*events.REASONS, *TRANSITIONS)}
    missing = set(re.findall(r'Transition\(.*event="(\w+)"', CONTRACT.sources))
    assert literal | reasons | missing == set(listed)


def test_who_builds_the_image_names_the_stage_that_is_meant() -> None:
    """Without one it would be the last: the klight controller, which runs neither of the others."""
    root = Path(__file__).parents[4]
    stages = set(
        re.findall(r"^FROM \S+ AS (\S+)$", (root / "deploy/Containerfile").read_text(), re.M)
    )
    pages = [*root.glob("docs/*.md"), *root.glob("*.md"), *root.glob("deploy/**/*.md")]
    pages += [*root.glob("examples/**/*.md"), root / "deploy/Containerfile"]
    text = "\n".join(page.read_text() for page in pages).replace("\\\n", " ")
    commands = re.findall(r"(?:podman|docker) build .*deploy/Containerfile.*", text)
    assert len(commands) > 1
    targets = [re.search(r"--target (\S+)", each) for each in commands]
    assert {each[1] if each else "none" for each in targets} <= stages


def test_every_condition_in_the_table_is_one_of_the_code() -> None:
    known = CONTRACT.written_names() | {kstatus.OVERDUE}
    known |= {f"Deployment{verb}Failed" for verb in ("Create", "Update")}
    assert CONTRACT.conditions()
    assert CONTRACT.conditions() <= known


def test_series_are_those_of_the_code() -> None:
    assert served(PortalMetrics().collectors()) == CONTRACT.series()


def test_watched_kinds_are_those_of_the_table() -> None:
    assert watched(portal.controllers, Options()) <= CONTRACT.triggers()
