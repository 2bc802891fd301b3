"""Specs of a foreign kind that nobody wrote: made from its definition and one good sample.

What the server takes is asked of one that is thrown away, in dry runs, as for our own kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from quintant.client.merge_patch import merge_patch_between
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.patch.merge_patch import merge_patch
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.default_scenario import applied_sample, subject_of
from quintant.testing.explore.foreign.scenario_file import (
    Document,
    LoadedScenario,
    ScenarioStep,
    load_manifests,
)
from quintant.testing.explore.foreign.steps import ScenarioUser, StepRefused
from quintant.testing.explore.specs.plan import SpecPlan, plan_specs
from quintant.testing.explore.specs.schema import Schema, Spec, spec_schema
from quintant.testing.explore.specs.transitions import SpecCase
from quintant.testing.explore.specs.workloads import with_workloads

GOOD = b"{}"
"""The patch that changes nothing."""


class SpecSubject(Struct, frozen=True):
    """An object whose spec is changed, and what is around it."""

    title: str
    definitions: tuple[Document, ...]
    surroundings: tuple[Document, ...]
    """What its sample holds beside it."""
    document: Document
    schema: Schema
    """Of its spec; empty where its definition says nothing."""

    @property
    def good(self) -> Spec:
        """The spec of the sample."""
        spec: Spec = self.document["spec"]
        return spec

    @property
    def key(self) -> tuple[str, str]:
        """Its kind and name."""
        return self.document["kind"], self.document["metadata"]["name"]

    def with_spec(self, spec: Spec) -> Document:
        """The same object with another spec."""
        return {**self.document, "spec": spec}

    def scenario(self, patches: Sequence[bytes]) -> LoadedScenario:
        """A user who applies these specs one after the other, each a merge patch of the good."""
        specs = [merge_patch(_copy(self.good), msgspec.json.decode(each)) for each in patches]
        manifests = tuple((self.with_spec(each),) for each in specs)
        steps = tuple(ScenarioStep(apply=each) for (each,) in manifests)
        return LoadedScenario(
            self.title,
            steps,
            self.definitions,
            self.surroundings,
            manifests,
            exec="ok",
            of_specs=True,
        )

    def patches(self, case: SpecCase) -> tuple[bytes, ...]:
        """The good spec, those of a case, and the good one again."""
        made = (msgspec.json.encode(merge_patch_between(self.good, each)) for each in case.specs)
        return (GOOD, *made, GOOD)


def spec_subject(crds: Sequence[Path], sample: Path) -> SpecSubject:
    """The subject of a sample: the object whose kind is defined; ConfigError if there is none."""
    definitions = [each for path in crds for each in load_manifests(path)]
    manifests = load_manifests(sample)
    subject = subject_of(definitions, manifests)
    if subject is None or not isinstance(subject.get("spec"), dict):
        raise ConfigError(
            f"cannot explore the specs of {sample}",
            because="it has no object with a spec whose kind --crds defines",
            hint="--crds names the definition of the kind, --sample an object of it",
        )
    schema = with_workloads(spec_schema(_schema(definitions, subject)))
    around = tuple(each for each in manifests if each is not subject)
    return SpecSubject(sample.name, tuple(definitions), around, dict(subject), schema)


async def plan_foreign_specs(subject: SpecSubject, count: int, seed: int) -> SpecPlan:
    """So many cases, the same for the same seed; ConfigError if the sample is not taken."""
    server = ApiServer()
    user = ScenarioUser(server, InProcessTransport(server))
    await applied_sample(user, subject.definitions, (*subject.surroundings, subject.document))

    async def refusal(spec: Spec) -> str:
        try:
            await user.try_out(subject.with_spec(spec))
        except StepRefused as error:
            return str(error)
        return ""

    return await plan_specs(subject.schema, subject.good, refusal, count=count, seed=seed)


def _schema(definitions: Sequence[Document], subject: Document) -> Schema:
    """The schema of an object's kind and version; empty if there is none."""
    group, _, version = subject["apiVersion"].rpartition("/")
    for definition in definitions:
        match definition:
            case {
                "spec": {"group": str(of), "names": {"kind": str(kind)}, "versions": [*versions]}
            }:
                if (of, kind) == (group, subject["kind"]):
                    return next(filter(None, (_of_version(each, version) for each in versions)), {})
    return {}


def _of_version(document: object, version: str) -> Schema:
    match document:
        case {"name": str(name), "schema": {"openAPIV3Schema": dict(schema)}} if name == version:
            return schema
    return {}


def _copy(spec: Spec) -> Spec:
    made: Spec = msgspec.json.decode(msgspec.json.encode(spec))
    return made
