"""What is written for strangers is true: code runs, links lead somewhere, names exist.

Every page is a program. Its Python blocks are run from top to bottom in one module, under virtual
time, with `cluster` (an InProcessCluster), its `client`, and the kinds of the first example.
A block marked `python fragment` is only compiled.
"""

from __future__ import annotations

import ast
import inspect
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import click
import pytest
import structlog

from examples_support import EXAMPLES, load_example
from quintant import Config, Manager
from quintant.cli import COMMANDS, main
from quintant.cli.envtest.known_words import APISERVER_FLAGS, ETCD_FLAGS
from quintant.cli.processes.process_metrics import ProcessMetrics
from quintant.client.fence import FenceKey
from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.core.resource import resource
from quintant.metrics import Registry
from quintant.runtime.observe.metrics import Metrics
from quintant.testing import InProcessCluster, named, run
from unit.references import dangling

ROOT = EXAMPLES.parent
DOCS = ROOT / "docs"
PROJECT = ROOT / "src/quintant/cli/new/skeleton"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])
GREETER = ("Greeter", "GreeterSpec", "GreeterStatus")

_FENCE = re.compile(r"^( *)```(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    """A fenced piece of a page."""

    info: str
    text: str
    line: int


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Pages may set up logs; the next one begins without."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def pages() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in _FENCE.finditer(text):
        indent, info, inner = found.groups()
        bare = re.sub(f"^{indent}", "", inner, flags=re.MULTILINE)
        yield Block(info.strip(), bare, text.count("\n", 0, found.start(3)))


def prose(page: Path) -> str:
    """A page without its blocks."""
    return _FENCE.sub("", page.read_text())


def code(page: Path) -> list[str]:
    """The shell lines and the words in backquotes of a page."""
    shell = [block.text for block in blocks(page) if block.info == "sh"]
    lines = re.split(r"[\n|]", "".join(shell).replace("\\\n", " "))
    return [line.partition("#")[0].strip() for line in lines] + _SPAN.findall(prose(page))


def commands() -> dict[str, click.Command]:
    """Every command by its full name, subcommands included."""
    found: dict[str, click.Command] = {}
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {sub}": each for sub, each in command.commands.items()}
    return found


def options(command: click.Command) -> set[str]:
    spelt = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}
    return {opt for opt in spelt if opt.startswith("-")} | {"-h", "--help"}


@pages()
def test_python_compiles(page: Path) -> None:
    for block in blocks(page):
        if block.info.startswith("python"):
            compiled(page, block)


@pages()
def test_python_runs(page: Path) -> None:
    program = [block for block in blocks(page) if block.info == "python"]
    if program:
        run(execute(page, program))


async def execute(page: Path, program: list[Block]) -> None:
    module = ModuleType(f"page_{page.stem}")
    cluster, greeter = InProcessCluster(), load_example("01_greeter")
    vars(module).update({name: getattr(greeter, name) for name in GREETER})
    vars(module).update(cluster=cluster, client=cluster.client)
    sys.modules[module.__name__] = module  # where type hints of its classes are looked up
    try:
        for block in program:
            result = eval(compiled(page, block), vars(module))
            if inspect.isawaitable(result):
                await result
    finally:
        await cluster.close()
        del sys.modules[module.__name__]


def compiled(page: Path, block: Block) -> CodeType:
    """The block as code whose line numbers are those of the page."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    made: CodeType = compile("\n" * block.line + block.text, str(page), "exec", flags, True)
    return made


def test_pages_have_links_commands_and_tasks() -> None:
    assert sum(len(_LINK.findall(prose(page))) for page in PAGES) > 50
    lines = [line for page in PAGES for line in code(page)]
    assert sum(line.startswith("quintant ") for line in lines) > 20
    assert sum(line.startswith("make ") for line in lines) > 20


@pages()
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(prose(page)):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_documents_and_docstrings_name_what_is_there() -> None:
    ignored = Path(__file__).with_name("references_ignored.txt").read_text().splitlines()
    assert list(dangling(ROOT, ignored)) == []


STARTED_BY_KITS = {f"--{flag}" for flag in APISERVER_FLAGS | ETCD_FLAGS}
"""Flags of the programs that test kits start."""


@pages()
def test_commands_and_their_options_exist(page: Path) -> None:
    known = commands()
    every = set().union(*map(options, known.values()), STARTED_BY_KITS)
    for line in code(page):
        words = line.split()
        if words[:1] == ["quintant"] and len(words) > 1:
            name = " ".join(words[1:3]) if " ".join(words[1:3]) in known else words[1]
            assert name in known or words[1].startswith("-"), line
            if name in known:
                given = {word.partition("=")[0] for word in words if word[:1] == "-"}
                assert given <= options(known[name]), line
        elif re.fullmatch(r"--[a-z-]+( .*)?", line):
            assert words[0] in every, line


@pages()
def test_tasks_exist(page: Path) -> None:
    texts = (path.read_text() for path in (ROOT / "Makefile", PROJECT / "Makefile.tmpl"))
    tasks = {task for text in texts for task in re.findall(r"^([a-z-]+):", text, re.MULTILINE)}
    for line in code(page):
        for task in re.findall(r"^make ([a-z-]+)", line):
            assert task in tasks, line


@pages()
def test_pages_are_calm(page: Path) -> None:
    assert "!" not in _SPAN.sub("", prose(page)).replace("![", "[")  # a picture


def test_every_page_is_in_the_index() -> None:
    linked = set(_LINK.findall((DOCS / "index.md").read_text()))
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= linked


def test_the_readme_shows_the_first_example() -> None:
    source = (EXAMPLES / "01_greeter.py").read_text()
    shown = [block.text for block in blocks(ROOT / "README.md") if block.info == "python"]
    assert shown[0].strip() == source.split('"""', 2)[2].strip()


def test_every_option_of_run_and_manifests_is_explained() -> None:
    table = re.findall(r"^\| `([^`]+)`", (DOCS / "running.md").read_text(), re.MULTILINE)
    words = {word.split()[0] for cell in table for word in cell.split(",")}
    explained = {word for word in words if word.startswith("-")}
    known = commands()
    assert explained == (options(known["run"]) | options(known["manifests"])) - {"-h", "--help"}


def test_every_argument_of_resource_is_explained() -> None:
    _, _, table = (DOCS / "kinds-and-crds.md").read_text().partition("| argument of `@resource` |")
    first = re.findall(r"^\| ([^|]*) \|", table.partition("\n\n")[0], re.MULTILINE)
    explained = {name for cell in first for name in _SPAN.findall(cell)}
    assert explained == inspect.signature(resource).parameters.keys()


async def test_every_series_is_explained(cluster: InProcessCluster) -> None:
    text = (DOCS / "metrics-and-health.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*)\|", text, re.MULTILINE)
    explained = {name: (kind, frozenset(_SPAN.findall(by))) for name, kind, by in rows}
    sharded = Manager("sharded", shards=True)
    example = load_example("06_webhooks")
    sharded.controls(example.Topic).reconcile(example.reconcile)
    engine = await cluster.run(sharded)
    assert engine.coordinator is not None, "it is sharded"
    owned, work = engine.coordinator.owned, (FenceKey("topic", 1, 1), Request("a"))
    owned.begin(1, *work, lambda: None)
    owned.overdue[1] = monotonic()
    found = series(engine.metrics.registry)
    owned.end(*work)
    teams = Manager("teams")
    teams.namespaces(selector="team=a")
    teams.controls(example.Topic).reconcile(example.reconcile)
    found |= series((await cluster.run(teams)).metrics.registry)
    fleet = Manager("fleet")
    kubeconfig = cluster.beside("west", InProcessCluster())
    fleet.cluster("west", Config.from_bytes(kubeconfig.encode()))
    fleet.controls(example.Topic).reconcile(example.reconcile)
    found |= series((await cluster.run(fleet)).metrics.registry)
    found |= series((await everything(cluster)).registry)
    found |= series(Registry((ProcessMetrics("0"),)))
    assert explained == found


async def everything(cluster: InProcessCluster) -> Metrics:
    """The metrics of a manager that does all there is to measure."""
    example = load_example("06_webhooks")
    manager = Manager("all", leader_elect=True)
    manager.controls(example.Topic).fresh(within=60).daemon(example.reconcile).reconcile(
        example.reconcile
    )
    manager.webhooks.validating(example.Topic, example.check)
    await cluster.advance(1)
    engine = await cluster.run(manager)
    await cluster.create(
        example.Topic(metadata=named("t"), spec=example.TopicSpec(partitions=1)),
    )
    await cluster.advance(1)
    requests = engine.metrics.rest("elsewhere")
    requests.retried("GET", 503)
    requests.throttled("GET", 0.1)
    engine.metrics.runnable_failed("poller")()
    return engine.metrics


def series(registry: Registry) -> dict[str, tuple[str, frozenset[str]]]:
    """Type and labels of every series by its name, those of the process excepted."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for family in registry.collect():
        if not family.name.startswith("process_"):
            name = family.name + ("_total" if family.type == "counter" else "")
            by = {label for sample in family.samples for label in sample.labels}
            found[name] = family.type, frozenset(by - {"le"})
    return found
