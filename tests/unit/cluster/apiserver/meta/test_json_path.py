from __future__ import annotations

import pytest

from quintant.cluster.apiserver.meta.json_path import BadPath, field_path

SCHEMA = {
    "properties": {
        "spec": {"properties": {"a": {"type": "string"}, "b.c": {"type": "integer"}}},
        "map": {"additionalProperties": {"properties": {"x": {"type": "string"}}}},
    }
}


@pytest.mark.parametrize(
    ("path", "text", "root"),
    [
        (".spec.a", "spec.a", "spec"),
        (".spec['b.c']", "spec.b.c", "spec"),
        (".map['k.1'].x", "map[k.1].x", "map"),
        (".map.key.x", "map[key].x", "map"),
        (".map['it\\'s']", "map[it's]", "map"),
    ],
)
def test_a_path_leads_through_fields_and_keys(path: str, text: str, root: str) -> None:
    found = field_path(path, SCHEMA)
    assert (found.text, found.root) == (text, root)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".spec.z", "does not refer to a valid field"),
        (".spec.a.b", "does not refer to a valid field"),
        ("spec", "expected [ or . but got: spec"),
        (".", "unexpected end of JSON path"),
        (".map[0]", "expected single quoted string but got 0"),
        (".map['a'", "unexpected end of JSON path"),
        (".map['\\q']", "invalid string literal: invalid escape char \\q"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: str, why: str) -> None:
    with pytest.raises(BadPath) as told:
        field_path(path, SCHEMA)
    assert str(told.value) == why


def test_brackets_can_be_ruled_out() -> None:
    with pytest.raises(BadPath, match="array notation is not allowed"):
        field_path(".map['a']", SCHEMA, brackets=False)
