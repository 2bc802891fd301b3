"""What is said to be inert is stored, and no program of the cluster reads it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from click.testing import CliRunner

from quintant.cli.cluster.up import command
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.common.inert_kinds import INERT_KINDS

ROOT = Path(__file__).parents[4]
PROGRAMS = ("controllers", "kubelet", "kubeproxy", "scheduler", "simulated", "volumes")
SECTION = re.compile(r"## Kinds that nothing acts on\n(.*?)\n## ", re.DOTALL)
ROW = re.compile(r"^\| (\w+) \| (.+) \|$", re.MULTILINE)
KINDS = {each.kind for each in INERT_KINDS}


def words(path: Path) -> set[str]:
    """The kinds that a module imports, and the texts in it."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    kinds = {
        name.name
        for node in imports
        if (node.module or "").startswith("quintant.api")
        for name in node.names
    }
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    return kinds | {text for text in texts if isinstance(text, str)}


def test_the_page_has_the_table() -> None:
    section = SECTION.search((ROOT / "docs/embedded-server.md").read_text())
    assert section is not None
    rows = [row for row in ROW.findall(section[1]) if row[0] != "kind"]
    assert rows == [(each.kind, each.elsewhere) for each in INERT_KINDS]


def test_the_help_of_up_names_every_one() -> None:
    shown = CliRunner().invoke(command, ["--help"]).output
    assert [kind for kind in sorted(KINDS) if not re.search(rf"\b{kind}\b", shown)] == []


def test_every_one_is_stored() -> None:
    stored = {kind.resource.kind for kind in builtin_kinds() if not kind.create_only}
    assert stored >= KINDS


def test_no_program_of_the_cluster_reads_one() -> None:
    """A kind that one begins to read is taken out of the table."""
    plurals = {kind.name for kind in builtin_kinds() if kind.resource.kind in KINDS}
    sources = (
        path
        for program in PROGRAMS
        for path in (ROOT / "src/quintant/cluster" / program).rglob("*.py")
    )
    assert [path.name for path in sources if words(path) & (KINDS | plurals)] == []
