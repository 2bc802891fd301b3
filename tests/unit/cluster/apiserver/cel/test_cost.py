"""What rules can cost at worst; the factors were printed by a real server."""

from __future__ import annotations

import pytest

from unit.cluster.api import CRDS, api, foo_definition

LOOPS = "self.l.all(a, self.l.all(b, self.k.all(s, self.p.all(o, {}))))"


@pytest.mark.parametrize(
    ("inner", "price"),
    [("true", 0), ("a > 0", 2), ("a + b > 0", 4), ("a == b", 2), ("s == s", 6), ("o == o", 2)],
)
async def test_numbers_cost_the_same_whatever_their_size(inner: str, price: int) -> None:
    integer = {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {
            "l": {"type": "array", "maxItems": 100, "items": integer},
            "k": {"type": "array", "maxItems": 100, "items": {"type": "string", "maxLength": 10}},
            "p": {
                "type": "array",
                "maxItems": 100,
                "items": {"type": "object", "properties": {"x": integer}},
            },
        },
        "x-kubernetes-validations": [{"rule": LOOPS.format(inner)}],
    }
    definition = foo_definition({"type": "object", "properties": {"spec": schema}})
    refused = await api().create(CRDS, definition, code=422)
    assert f"factor of {30.6 + 10 * price:.1f}x" in refused["message"]
