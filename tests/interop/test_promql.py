"""A parser that nobody here wrote reads every rule that is generated, and every graph."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from foreign import ProgramError
from foreign.catalogue import PROMQL_PARSER
from interop.conftest import Aloud

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("programs") / "with_promql_parser.py"
FOLDERS = sorted((ROOT / "deploy").glob("*/monitoring"))


@pytest.fixture
def python(aloud: Aloud) -> Path:
    """The Python that has the parser."""
    try:
        with aloud():
            return PROMQL_PARSER.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


def expressions(folder: Path) -> list[str]:
    """Those of the alerts, and those that are drawn."""
    groups = yaml.safe_load((folder / "prometheusrule.yaml").read_text())["spec"]["groups"]
    [text] = yaml.safe_load((folder / "dashboard.yaml").read_text())["data"].values()
    alerts = [rule["expr"] for group in groups for rule in group["rules"]]
    panels = json.loads(text)["panels"]
    drawn = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    return [each.replace("$__rate_interval", "5m") for each in (*alerts, *drawn)]


def test_every_expression_is_promql(python: Path) -> None:
    found = [each for folder in FOLDERS for each in expressions(folder)]
    assert len(found) > 100
    done = subprocess.run(
        [python, PROGRAM], input="\n".join(found), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"read {len(found)}\n"
