"""The file of a scenario for a foreign program: YAML, read strictly before any process starts.

    crds: [config/crd]
    steps:
      - apply: sample.yaml
      - patch: {kind: Widget, name: a, merge: {spec: {size: 2}}}
      - delete: {kind: Widget, name: a}

What is wrong is an error with the file and the line. Paths are relative to the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from quintant.core.errors import ConfigError
from quintant.core.yaml import YamlError, load, load_all

CALM_SECONDS = 5.0
"""For how long nothing may have happened, of the operator's clock, unless the file says more."""
KOPF_CALM_SECONDS = 90.0
"""The same for kopf, which tries again after a minute; and for whatever is judged again."""
MOST_FILE_BYTES = 16 * 1024 * 1024
"""Of a file of manifests: definitions of 3 MB are known."""

Document = dict[str, Any]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
Name = Annotated[str, Meta(min_length=1, max_length=253)]


class TargetName(Struct, frozen=True, forbid_unknown_fields=True):
    """An object: what it is, and its name."""

    kind: Name
    name: Name
    namespace: str = "default"
    """Left out of account for kinds without namespaces."""


class PatchTarget(Struct, frozen=True, forbid_unknown_fields=True):
    """A change of an object: a JSON merge patch."""

    kind: Name
    name: Name
    merge: Document
    namespace: str = "default"


class ScaleStep(Struct, frozen=True, forbid_unknown_fields=True):
    """Another number of replicas, by the scale subresource."""

    kind: Name
    name: Name
    replicas: Annotated[int, Meta(ge=0, le=1_000_000)]
    namespace: str = "default"


class ScenarioStep(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that a user does, so one field; the next step comes when all is quiet."""

    apply: str | Document | None = None
    """A file of manifests, or one manifest."""
    patch: PatchTarget | None = None
    delete: TargetName | None = None
    scale: ScaleStep | None = None
    wait: Seconds | None = None
    """Seconds of the operator's clock."""

    @property
    def action(self) -> str:
        """The field that is set; empty if it is not exactly one."""
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        return given[0] if len(given) == 1 else ""


class IgnoredField(Struct, frozen=True, forbid_unknown_fields=True):
    """What is not compared, and why."""

    field: Name
    """A path such as `status.lastSeen`, or `*` for the whole object."""
    reason: Name
    kind: str = ""
    """Of which objects, such as `widgets.demo.dev`; of all if it is left out."""


class ScenarioFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    steps: Annotated[list[ScenarioStep], Meta(min_length=1, max_length=100)]
    crds: list[str] = []
    """Files or folders of CustomResourceDefinitions."""
    prepare: list[str] = []
    """Files or folders of what is in the cluster before the program starts."""
    exec: Literal["ok", "fail"] | None = None
    """What commands in containers come to; without it they cannot be run."""
    ignore: list[IgnoredField] = []
    calm: Seconds | None = None
    """For so long, of the operator's clock, nothing must have happened for all to be quiet."""
    bound: Seconds | None = None
    """No step takes longer, of the operator's clock."""


class LoadedScenario(Struct, frozen=True):
    """A scenario with everything that its files hold."""

    title: str
    steps: tuple[ScenarioStep, ...]
    definitions: tuple[Document, ...]
    prepared: tuple[Document, ...]
    manifests: tuple[tuple[Document, ...], ...]
    """For each step what it applies."""
    exec: str | None = None
    ignore: tuple[IgnoredField, ...] = ()
    calm: float | None = None
    bound: float | None = None
    of_specs: bool = False
    """Whether each step is a spec of one object: it may be refused, and history counts nothing."""


def scenario_schema() -> Document:
    """The JSON schema of a scenario file, for editors."""
    return msgspec.json.schema(ScenarioFile)


def load_scenario_file(path: Path) -> LoadedScenario:
    """Read a scenario and every file that it names; ConfigError with the line of what is wrong."""
    text = _read(path, path)
    try:
        document = load(text, str(path))
    except YamlError as error:
        raise _refused(path, error.line, error.problem) from None
    try:
        parsed = msgspec.convert(document, ScenarioFile)
    except msgspec.ValidationError as error:
        why, _, at = str(error).partition(" - at `")
        raise _refused(path, _line_of(text, at.rstrip("`"), why), why) from None
    return _loaded(path, text, parsed)


def _loaded(path: Path, text: bytes, parsed: ScenarioFile) -> LoadedScenario:
    definitions = _documents(path, text, "crds", parsed.crds)
    prepared = _documents(path, text, "prepare", parsed.prepare)
    manifests = []
    known = {_key(each) for each in prepared}
    for number, step in enumerate(parsed.steps):
        line = _line_of(text, f"$.steps[{number}]", "")
        if not step.action:
            raise _refused(path, line, "a step is one of apply, patch, delete, scale and wait")
        manifests.append(_applied(path, line, step))
        known |= {_key(each) for each in manifests[-1]}
        target = step.patch or step.delete or step.scale
        if target is not None and not _is_known(target, known):
            why = f"no step before has applied {target.kind} {target.namespace}/{target.name}"
            raise _refused(path, line, why)
    return LoadedScenario(
        path.name,
        tuple(parsed.steps),
        tuple(definitions),
        tuple(prepared),
        tuple(manifests),
        parsed.exec,
        tuple(parsed.ignore),
        parsed.calm,
        parsed.bound,
    )


def load_manifests(path: Path) -> list[Document]:
    """The objects in a file, or in the YAML files of a folder; ConfigError if one is none."""
    if not path.is_dir():
        return list(_manifests(path, path, 0))
    files = sorted(each for each in path.iterdir() if each.suffix in (".yaml", ".yml", ".json"))
    found = [each for file in files for each in _manifests(file, file, 0)]
    return [each for each in found if each["kind"] != "Kustomization"]


def _documents(path: Path, text: bytes, field: str, names: Sequence[str]) -> list[Document]:
    found: list[Document] = []
    for number, name in enumerate(names):
        line = _line_of(text, f"$.{field}[{number}]", "")
        below = path.parent / name
        if not below.exists():
            raise _refused(path, line, f"there is no {below}")
        found.extend(load_manifests(below))
    return found


def _applied(path: Path, line: int, step: ScenarioStep) -> tuple[Document, ...]:
    if isinstance(step.apply, str):
        return tuple(_manifests(path.parent / step.apply, path, line))
    return () if step.apply is None else (_checked(step.apply, path, line),)


def _manifests(file: Path, named_in: Path, line: int) -> Iterator[Document]:
    if not file.is_file():
        raise _refused(named_in, line, f"there is no file {file}")
    for document in load_all(_read(file, named_in), str(file)):
        items = document.get("items") if isinstance(document, dict) else None
        for each in items if isinstance(items, list) else [document]:
            yield _checked(each, file, 0)


def _checked(document: Any, file: Path, line: int) -> Document:
    match document:
        case {"apiVersion": str(), "kind": str(), "metadata": {"name": str()}}:
            return dict(document)
        case {"apiVersion": str(), "kind": "Kustomization"}:
            return dict(document)
    raise _refused(file, line, "a manifest has apiVersion, kind and metadata.name")


def _is_known(
    target: TargetName | PatchTarget | ScaleStep, known: set[tuple[str, str, str]]
) -> bool:
    wanted = (target.kind, target.namespace, target.name)
    return wanted in known or (target.kind, "", target.name) in known


def _key(document: Document) -> tuple[str, str, str]:
    meta = document["metadata"]
    return document["kind"], meta.get("namespace", "default"), meta.get("name", "")


def _read(path: Path, named_in: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise _refused(named_in, 0, f"{path}: {error.strerror or error}") from None
    if len(raw) > MOST_FILE_BYTES:
        raise _refused(named_in, 0, f"{path} is longer than {MOST_FILE_BYTES} bytes")
    return raw


def _refused(path: Path, line: int, why: str) -> ConfigError:
    position = f"{path}, line {line}" if line else str(path)
    return ConfigError(
        f"cannot read the scenario: {position}",
        because=why,
        hint="quintant explore --schema has every field; docs/exploring.md explains them",
    )


_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[(\.\.\.)\]")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")


def _line_of(text: bytes, path: str, why: str) -> int:
    """The line of a path such as `$.steps[2].patch`, or of the field below that `why` names."""
    # PyYAML is loaded by those who read some.
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, index, _ in _PART.findall(path):
        inner = _inner(node, key, index)
        if inner is None:
            break
        node = inner
    if node is None:
        return 1
    unknown = _UNKNOWN.search(why)
    if unknown is not None and isinstance(node, yaml.MappingNode):
        for name, _ in node.value:
            if name.value == unknown[1]:
                return int(name.start_mark.line) + 1
    return int(node.start_mark.line) + 1


def _inner(node: Any, key: str, index: str) -> Any:
    # Only called with nodes of PyYAML, which has no types.
    if key and node.id == "mapping":
        return next((value for name, value in node.value if name.value == key), None)
    if index and node.id == "sequence" and int(index) < len(node.value):
        return node.value[int(index)]
    return None
