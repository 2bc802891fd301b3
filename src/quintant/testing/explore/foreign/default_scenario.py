"""A scenario that nobody wrote: what a user does with a sample, from its creation to its end.

create, change a field, scale down and up (of one: up and down), delete, create again, delete. The
field is the first number of its spec that the server takes another value for, else the first switch
or text. Which one that is, is tried on a server that is thrown away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from quintant.client.rest import MERGE
from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.errors import ConfigError
from quintant.testing.explore.foreign.scenario_file import (
    Document,
    LoadedScenario,
    PatchTarget,
    ScaleStep,
    ScenarioStep,
    TargetName,
    load_manifests,
)
from quintant.testing.explore.foreign.steps import ScenarioUser, StepRefused

MOST_FIELDS = 40
"""Fields of a spec that are tried."""
REPLICAS = ("replicas", "size")
"""Numbers that are scaled, and not merely changed."""
SCALED = 2


async def default_scenario(crds: Sequence[Path], sample: Path) -> LoadedScenario:
    """The scenario of a sample; ConfigError if the server does not take it."""
    definitions = [each for path in crds for each in load_manifests(path)]
    manifests = tuple(load_manifests(sample))
    if not manifests:
        raise ConfigError(f"there is nothing in {sample}", hint="give a manifest with --sample")
    main = subject_of(definitions, manifests) or manifests[-1]
    merge, replicas = await _changes(definitions, manifests, main)
    meta = main["metadata"]
    namespace = meta.get("namespace", "default")
    target = TargetName(main["kind"], meta["name"], namespace)
    apply, delete = ScenarioStep(apply=str(sample)), ScenarioStep(delete=target)
    steps = [apply]
    if merge:
        steps.append(_patch(target, merge))
    for number in replicas:
        steps.append(number if isinstance(number, ScenarioStep) else _patch(target, number))
    steps += [delete, apply, delete]
    applied = tuple(manifests if each is apply else () for each in steps)
    return LoadedScenario(sample.name, tuple(steps), tuple(definitions), (), applied, exec="ok")


def subject_of(definitions: Sequence[Document], manifests: Sequence[Document]) -> Document | None:
    """The first object of a sample whose kind is defined."""
    kinds = set()
    for each in definitions:
        match each:
            case {"kind": "CustomResourceDefinition", "spec": {"names": {"kind": str(kind)}}}:
                kinds.add(kind)
    return next((each for each in manifests if each["kind"] in kinds), None)


def _patch(target: TargetName, merge: Document) -> ScenarioStep:
    return ScenarioStep(patch=PatchTarget(target.kind, target.name, merge, target.namespace))


async def _changes(
    definitions: Sequence[Document], manifests: tuple[Document, ...], main: Document
) -> tuple[Document | None, list[Any]]:
    """A change that the server takes, and how the sample is scaled up and down, if it can be."""
    server = ApiServer()
    user = ScenarioUser(server, InProcessTransport(server))
    await applied_sample(user, tuple(definitions), manifests)
    path = user.path_of(main)
    spec = main.get("spec")
    candidates = list(_changed(spec)) if isinstance(spec, dict) else []
    merge = None
    for each in candidates[:MOST_FIELDS]:
        if await _is_taken(server, path, {"spec": each}):
            merge = {"spec": each}
            break
    return merge, await _scalings(server, path, main)


async def applied_sample(
    user: ScenarioUser, definitions: tuple[Document, ...], manifests: tuple[Document, ...]
) -> None:
    """Apply a sample; ConfigError if the server does not take it."""
    try:
        await user.apply(definitions)
        await user.apply(manifests)
    except StepRefused as error:
        raise ConfigError(
            "cannot explore the sample",
            because=str(error),
            hint="kubectl apply it to `quintant up`",
        ) from None


async def _scalings(server: ApiServer, path: str, main: Document) -> list[Any]:
    spec = main.get("spec") if isinstance(main.get("spec"), dict) else {}
    assert isinstance(spec, dict)
    name = next((each for each in REPLICAS if isinstance(spec.get(each), int)), "")
    if not name:
        return []
    now = spec[name]
    other = now - 1 if now > 1 else now + 1
    if await _is_taken(server, f"{path}/scale", {"spec": {"replicas": other}}):
        meta = main["metadata"]
        key = (main["kind"], meta["name"])
        namespace = meta.get("namespace", "default")
        return [
            ScenarioStep(scale=ScaleStep(*key, other, namespace)),
            ScenarioStep(scale=ScaleStep(*key, now, namespace)),
        ]
    there, back = {"spec": {name: other}}, {"spec": {name: now}}
    return [there, back] if await _is_taken(server, path, there) else []


async def _is_taken(server: ApiServer, path: str, change: Document) -> bool:
    call = ApiRequest(
        "PATCH",
        path,
        {"dryRun": "All", "fieldManager": "test"},
        {"content-type": MERGE},
        msgspec.json.encode(change),
    )
    answer = await server.request(call)
    return answer.status == 200


def _changed(spec: Document) -> Iterator[Document]:
    """Specs with one field changed: numbers first, then switches, then texts."""
    leaves = list(_leaves(spec))
    for kind in (int, bool, str):
        for path, value in leaves:
            if type(value) is kind and path[0] not in REPLICAS:
                yield _nested(path, _other(value))


def _leaves(value: Document, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _leaves(inner, (*path, key))
        else:
            yield (*path, key), inner


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"


def _nested(path: tuple[str, ...], value: Any) -> Document:
    for key in reversed(path):
        value = {key: value}
    made: Document = value
    return made
