"""What exploration of specs finds in reconcilers that are right, and in those that are not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from msgspec import Meta

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.runtime.reconcile.context import Reconciler
from quintant.testing import ScenarioWorld, SpecScenario, explore_specs, named
from quintant.testing.explore.specs.campaign import replay_specs


class NoteSpec(Model):
    text: Annotated[str, Meta(max_length=20)]
    title: str | None = None
    copies: Annotated[int | None, Meta(ge=1, le=3)] = None
    remark: str = ""


class NoteStatus(Model):
    copies: int | None = None


@resource(group="specs.dev", version="v1", status=True)
class Note(Custom[NoteSpec, NoteStatus]):
    """Keeps its text in so many ConfigMaps."""


def copies_of(note: Note) -> list[ConfigMap]:
    data = {"text": note.spec.text}
    if note.spec.title is not None:
        data["title"] = note.spec.title
    return [
        owned(ConfigMap(metadata=ObjectMeta.like(note, name=f"a-{at}"), data=data), by=note)
        for at in range(note.spec.copies or 1)
    ]


async def make_copies(note: Note, ctx: Context[Note]) -> None:
    wanted = copies_of(note)
    for each in wanted:
        await ctx.apply(each)
    names = {each.metadata.name for each in wanted}
    for each in await ctx.client.list(ConfigMap):
        if each.metadata.name not in names:
            await ctx.client.delete(each)


async def reconcile(note: Note, ctx: Context[Note]) -> None:
    await make_copies(note, ctx)
    await ctx.set_status(NoteStatus(copies=note.spec.copies or 1))


async def leave_behind(note: Note, ctx: Context[Note]) -> None:
    """The mistake: what is not wanted any more stays."""
    for each in copies_of(note):
        await ctx.apply(each)
    await ctx.set_status(NoteStatus(copies=note.spec.copies or 1))


async def remember_most(note: Note, ctx: Context[Note]) -> None:
    """The mistake: a status that only grows."""
    await make_copies(note, ctx)
    before = note.status.copies if note.status else None
    await ctx.set_status(NoteStatus(copies=max(before or 0, note.spec.copies or 1)))


class NoteSpecs(SpecScenario):
    """Everything that can be said of a Note."""

    subject = Note(metadata=named("a"), spec=NoteSpec(text="hi"))
    without_effect: Mapping[str, str] = {"remark": "for people"}
    reconciler: Reconciler[Note] = staticmethod(reconcile)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("notes")
        manager.controls(Note).owns(ConfigMap).reconcile(self.reconciler)
        return [manager]


class LeftBehind(NoteSpecs):
    reconciler = staticmethod(leave_behind)


class Grows(NoteSpecs):
    reconciler = staticmethod(remember_most)


class Unlisted(NoteSpecs):
    without_effect: Mapping[str, str] = {}


class ListedInVain(NoteSpecs):
    without_effect: Mapping[str, str] = {"remark": "for people", "title": "not used"}


class Unspeakable(NoteSpecs):
    subject = Note(metadata=named("a"), spec=NoteSpec(text="much longer than it may be"))


def test_a_right_controller_survives_every_spec() -> None:
    report = explore_specs(NoteSpecs, 40)
    report.check()
    assert (report.runs, report.properties, report.covered) == (40, 4, 4)


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (LeftBehind, "configmaps default/a-1 is there, and should not be"),
        (Grows, "notes.specs.dev default/a.status.copies is 2, and should be 1"),
        (Unlisted, "remark is set and shows nowhere"),
        (ListedInVain, "title is listed as without effect, and has one"),
    ],
)
def test_a_mistake_is_found(scenario: type[SpecScenario], why: str) -> None:
    assert why in str(explore_specs(scenario, 20))


def test_a_failure_has_as_few_specs_as_possible_and_is_repeated_by_its_token() -> None:
    failure = explore_specs(Grows, 20).failures[0]
    assert failure.token == 'undisturbed~specs=[{},{"copies":2},{}]'
    again = replay_specs(Grows, failure.token)
    assert again is not None
    assert again.why == failure.why
    assert replay_specs(NoteSpecs, failure.token) is None


def test_the_same_seed_tries_the_same() -> None:
    assert explore_specs(NoteSpecs, 15).tried == explore_specs(NoteSpecs, 15).tried
    assert explore_specs(NoteSpecs, 15).tried != explore_specs(NoteSpecs, 15, seed=2).tried


def test_a_good_spec_that_the_server_refuses_is_an_error() -> None:
    with pytest.raises(ConfigError, match="fails with its good spec"):
        explore_specs(Unspeakable, 5)


def test_a_subject_without_a_spec_is_an_error() -> None:
    scenario: Any = type("Bare", (NoteSpecs,), {"subject": ConfigMap(metadata=named("a"))})
    with pytest.raises(ConfigError, match="which has no spec"):
        explore_specs(scenario, 5)
