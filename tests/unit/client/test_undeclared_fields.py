"""Fields that the server does not know are learnt from its refusals, and left out."""

from __future__ import annotations

import msgspec
import pytest

from quintant.api.core import ConfigMap
from quintant.client.undeclared_fields import UndeclaredFields, named_fields

PREFIX = "failed to create typed patch object (a/b; shop.demo.dev/v1, Kind=Shop): "


@pytest.mark.parametrize(
    ("message", "paths"),
    [
        (f"{PREFIX}.status.seen: field not declared in schema", {("status", "seen")}),
        (
            f"{PREFIX}errors:\n  .status.seen: field not declared in schema\n"
            '  .status.relays[name="a: b"].url: field not declared in schema',
            {("status", "seen"), ("status", "relays", "url")},
        ),
        (
            f"{PREFIX}.status.relays[0].url: field not declared in schema",
            {("status", "relays", "url")},
        ),
        ("etcdserver: request timed out", set()),
    ],
)
def test_a_refusal_names_the_fields_whatever_list_they_are_in(
    message: str, paths: set[tuple[str, ...]]
) -> None:
    assert named_fields(message) == paths


def test_what_was_learnt_is_left_out_and_nothing_else() -> None:
    fields = UndeclaredFields()
    body = msgspec.json.encode({"status": {"seen": 1, "relays": [{"name": "a", "url": "u"}]}})
    assert fields.leave_out(ConfigMap, body) == body
    refusal = f"{PREFIX}.status.relays[0].url: field not declared in schema"
    assert fields.learn(ConfigMap, refusal) == [".status.relays.url"]
    assert fields.learn(ConfigMap, refusal) == [], "the same again is another trouble"
    left = msgspec.json.decode(fields.leave_out(ConfigMap, body))
    assert left == {"status": {"seen": 1, "relays": [{"name": "a"}]}}
