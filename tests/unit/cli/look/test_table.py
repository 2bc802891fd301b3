"""What the server prints, as a terminal shows it."""

from __future__ import annotations

from typing import Any

from quintant.cli.look.table import laid_out, rows, shown

TABLE: dict[str, Any] = {
    "columnDefinitions": [
        {"name": "Name", "format": "name", "priority": 0},
        {"name": "Status", "priority": 0},
        {"name": "Node", "priority": 1},
    ],
    "rows": [
        {"cells": ["a", "Running", "x"], "object": {"metadata": {"namespace": "one"}}},
        {"cells": ["much-longer", None, "y"], "object": {"metadata": {"namespace": "two"}}},
    ],
}


def test_columns_are_as_wide_as_they_must_be() -> None:
    assert laid_out(rows(TABLE, wide=False, namespaces=False)).splitlines() == [
        "NAME          STATUS",
        "a             Running",
        "much-longer   <none>",
    ]


def test_wide_has_more_columns_and_everywhere_the_namespace() -> None:
    assert laid_out(rows(TABLE, wide=True, namespaces=True)).splitlines()[:2] == [
        "NAMESPACE   NAME          STATUS    NODE",
        "one         a             Running   x",
    ]


def test_of_several_kinds_names_say_which() -> None:
    found = rows(TABLE, wide=False, prefix="pods/", namespaces=False)
    assert [line[0] for line in found.lines] == ["pods/a", "pods/much-longer"]


def test_a_terminal_is_told_nothing_by_the_cluster() -> None:
    assert shown("red \x1b[31m\nline") == "red  [31m line"
