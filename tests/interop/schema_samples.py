"""Objects of a definition, made from its schema: one as it should be, and three as it should not.

What a schema says in rules of CEL is not looked at, and of patterns only what common words fit: an
object may be refused all the same. Whatever is said of it has to be said by every server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]
WORDS = (
    *("a", "a.b", "a/b", "A", "1", "1s", "1h0m0s", "1.2.3.4", "1.2.3.4/24", "v1.2.3", "1.2.3"),
    *("https://a.b/c", "http://a.b", "/a", "a@b.cd", "100Mi", "10%", "2020-01-01T00:00:00Z"),
    *("aa:bb:cc:dd:ee:ff", "arn:aws:iam::123456789012:role/a", "sha256:" + 64 * "a", "a:b", "*"),
    *("subnet-0123456789abcdef0", "0 0 * * *", "1-2", "abcdefghijkl", "a.b/v1", "a=b"),
)
FORMATS = {"date-time": "2020-01-01T00:00:00Z", "date": "2020-01-01", "ipv4": "1.2.3.4"}
UNKNOWN_FIELD = "unknown field"
NO_WORD = "no such word !"
DEEPEST = 12


def valid(definition: JsonObject) -> JsonObject:
    """The least that its schema asks for."""
    version = storage_version(definition)
    group, names = definition["spec"]["group"], definition["spec"]["names"]
    schema = version.get("schema", {}).get("openAPIV3Schema", {})
    spec = schema.get("properties", {}).get("spec", {})
    head = {"apiVersion": f"{group}/{version['name']}", "kind": names["kind"]}
    rest = {
        name: sample(child)
        for name, child in schema.get("properties", {}).items()
        if name in schema.get("required", ()) and name not in ("apiVersion", "kind", "metadata")
    }
    content = {"spec": sample(spec)} if spec else {}
    return {**head, "metadata": {"name": "a"}, **content, **rest}


def invalid(definition: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Three that are wrong, with what is wrong with each."""
    base = valid(definition)
    schema = storage_version(definition)["schema"]["openAPIV3Schema"]
    name, below = _part(schema)
    yield "of another type", {**base, name: wrong(below)}
    yield UNKNOWN_FIELD, {**base, "noSuchField": {"a": 1}}
    changed = {**base, name: _out_of_bounds(below, base.get(name))}
    yield "out of bounds", changed


def storage_version(definition: JsonObject) -> JsonObject:
    """The version that objects are stored in."""
    found: JsonObject = next(each for each in definition["spec"]["versions"] if each["storage"])
    return found


def sample(schema: JsonObject, depth: int = 0) -> Any:
    """A value that a schema allows, as far as that is seen without trying."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return next((each for each in schema["enum"] if each != ""), "")
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    match schema.get("type"):
        case "object":
            return _object(schema, depth)
        case "array":
            count = schema.get("minItems", 0) if depth < DEEPEST else 0
            return [sample(schema.get("items", {}), depth + 1)] * count
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case "string":
            return _word(schema)
    return {}


def wrong(schema: JsonObject) -> Any:
    """A value of another type than a schema allows."""
    return 7 if schema.get("type") != "integer" else "seven"


def _object(schema: JsonObject, depth: int) -> JsonObject:
    properties = schema.get("properties", {})
    needed = [*schema.get("required", ())]
    for alternatives in (schema.get("oneOf"), schema.get("anyOf")):
        needed += alternatives[0].get("required", ()) if alternatives else ()
    if depth >= DEEPEST:
        return {}
    return {name: sample(properties.get(name, {}), depth + 1) for name in dict.fromkeys(needed)}


def _word(schema: JsonObject) -> str:
    if schema.get("format") in FORMATS:
        return str(FORMATS[schema["format"]])
    least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
    pattern = schema.get("pattern", "")
    found = (w for w in WORDS if least <= len(w) <= most and _fits(pattern, w))
    return next(found, "a" * max(least, 1))


def _fits(pattern: str, word: str) -> bool:
    try:
        return re.search(pattern, word) is not None
    except re.error:
        return True


def _part(schema: JsonObject) -> tuple[str, JsonObject]:
    """The part of an object that is made wrong: its spec, or else the first that it has."""
    properties = schema.get("properties", {})
    own = [each for each in properties if each not in ("apiVersion", "kind", "metadata", "status")]
    name = "spec" if "spec" in own else next(iter(own), "spec")
    return name, properties.get(name, {})


def _out_of_bounds(schema: JsonObject, value: Any) -> Any:
    """A value with one leaf that is none of its enumeration, fits no pattern, or is missing."""
    if not isinstance(value, dict):
        return wrong(schema)
    properties = schema.get("properties", {})
    for name, child in properties.items():
        if child.get("enum") or child.get("pattern"):
            return {**value, name: NO_WORD}
        if "minimum" in child or "maximum" in child:
            return {**value, name: child.get("minimum", child.get("maximum")) - 10**6}
    for name in schema.get("required", ()):
        return {key: each for key, each in value.items() if key != name}
    return {**value, **{name: wrong(child) for name, child in [*properties.items()][:3]}}
