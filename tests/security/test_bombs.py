"""Small requests that would become huge are refused, and the server goes on."""

from __future__ import annotations

import pytest

from conformance.target import YAML, definition
from unit.cluster.api import CMS, CRDS, FOOS, JsonObject, api, config_map

LEVELS = 9
WIDTH = 9


def _laughs() -> bytes:
    """Nine lists of nine of each other: 400 million texts in less than a kilobyte."""
    lines = ["apiVersion: v1", "kind: ConfigMap", "metadata: {name: a}", "a0: &a0 lol"]
    for level in range(1, LEVELS + 1):
        items = ", ".join([f"*a{level - 1}"] * WIDTH)
        lines.append(f"a{level}: &a{level} [{items}]")
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    "body",
    [
        _laughs(),
        b"a: &a [*a]\n",
        b"{" * 100_000,
        b"- " * 100_000 + b"a",
        b"a: !!python/object/apply:os.system ['true']\n",
    ],
)
async def test_yaml_that_grows_or_runs_is_refused(body: bytes) -> None:
    user = api()
    reply = await user.send("POST", CMS, body, media=YAML)
    assert 400 <= reply.status < 500
    await user.create(CMS, config_map("after"))


async def test_json_that_is_nested_without_end_is_refused() -> None:
    user = api()
    reply = await user.send("POST", CMS, b'{"a":' * 200_000)
    assert 400 <= reply.status < 500
    await user.create(CMS, config_map("after"))


def _definition(rule: str) -> JsonObject:
    items = {"type": "array", "items": {"type": "string"}}
    spec = {
        "type": "object",
        "properties": {"a": items},
        "x-kubernetes-validations": [{"rule": rule}],
    }
    return definition("example.com", {"type": "object", "properties": {"spec": spec}})


@pytest.mark.parametrize(
    "rule",
    [
        "self.a.all(x, self.a.all(y, self.a.all(z, x + y != z)))",
        "self.a.map(x, self.a.map(y, x + y)).size() < 3",
        "'a'.matches('(((((a*)*)*)*)*)*b') || self.a.all(x, x.matches('(a+)+$'))",
        "(" * 5_000 + "true" + ")" * 5_000,
        " || ".join(["true"] * 60_000),
    ],
)
async def test_rule_that_could_run_for_ever_is_refused_with_its_definition(rule: str) -> None:
    user = api()
    reply = await user.send("POST", CRDS, _definition(rule))
    assert reply.status == 422
    await user.create(CMS, config_map("after"))


async def test_rule_that_turns_out_too_costly_is_refused_with_its_object() -> None:
    user = api()
    # Within the estimate: the sizes are bounded. What it is given makes it cost more than it may.
    rule = "self.a.all(x, self.a.all(y, x.size() + y.size() < 100000))"
    limited = _definition(rule)
    spec = limited["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["a"] |= {"maxItems": 1000, "items": {"type": "string", "maxLength": 9}}
    made = await user.send("POST", CRDS, limited)
    assert made.status in (201, 422)
    if made.status == 201:
        body = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}
        sent = await user.send("POST", FOOS, {**body, "spec": {"a": ["x"] * 1000}})
        assert sent.status == 422
    await user.create(CMS, config_map("after"))
