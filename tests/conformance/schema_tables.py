"""Schemas and values that are refused, with what both servers say to each, word for word."""

from __future__ import annotations

from conformance.crds import Causes, fields, text
from unit.cluster.api import JsonObject

INVALID = "FieldValueInvalid"
REQUIRED = "FieldValueRequired"
FORBIDDEN = "FieldValueForbidden"
MISTYPED = "FieldValueTypeInvalid"
UNSUPPORTED = "FieldValueNotSupported"
DUPLICATE = "FieldValueDuplicate"
ROOT = "spec.validation.openAPIV3Schema"
X = f"{ROOT}.properties[x]"
INTEGER: JsonObject = {"type": "integer"}
KEYED: JsonObject = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    "items": {**fields(k=text(), v=text()), "required": ["k"]},
}
EMBEDDED: JsonObject = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
UNTYPED = "must not be empty"
UNCHECKED = "Checked value must be of type"


UNSTRUCTURAL: list[tuple[JsonObject, Causes]] = [
    (
        {},
        {(REQUIRED, f"{X}.type", "Required value: must not be empty for specified object fields")},
    ),
    (
        {"type": "any"},
        {
            (
                UNSUPPORTED,
                f"{X}.type",
                'Unsupported value: "any": supported values: "array", "boolean", "integer", '
                '"number", "object", "string"',
            )
        },
    ),
    ({"type": "array"}, {(REQUIRED, f"{X}.items", "Required value: must be specified")}),
    (
        {"type": "array", "items": {}},
        {
            (
                REQUIRED,
                f"{X}.items.type",
                f"Required value: {UNTYPED} for specified array items",
            )
        },
    ),
    (
        {"type": "object", "$ref": "#/x"},
        {(FORBIDDEN, f"{X}.$ref", "Forbidden: $ref is not supported")},
    ),
    (
        {"type": "object", "patternProperties": {"a": text()}},
        {(FORBIDDEN, f"{X}.patternProperties", "Forbidden: patternProperties is not supported")},
    ),
    (
        {"type": "array", "items": text(), "uniqueItems": True},
        {
            (
                FORBIDDEN,
                f"{X}.uniqueItems",
                "Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
                "quadratic",
            )
        },
    ),
    (
        {**fields(a=text()), "additionalProperties": text()},
        {
            (
                FORBIDDEN,
                f"{X}.additionalProperties",
                "Forbidden: additionalProperties and properties are mutual exclusive",
            )
        },
    ),
    (
        {"type": "string", "anyOf": [{"type": "string", "default": "x"}]},
        {
            (FORBIDDEN, f"{X}.anyOf[0].type", "Forbidden: must be empty to be structural"),
            (FORBIDDEN, f"{X}.anyOf[0].default", "Forbidden: must be undefined to be structural"),
        },
    ),
    (
        text(pattern="("),
        {
            (
                INVALID,
                f"{X}.pattern",
                'Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing '
                "regexp: missing closing ): `(`",
            )
        },
    ),
    (
        {"x-kubernetes-embedded-resource": True, "type": "object"},
        {
            (
                REQUIRED,
                f"{X}.properties",
                "Required value: must not be empty if x-kubernetes-embedded-resource is true "
                "without x-kubernetes-preserve-unknown-fields",
            )
        },
    ),
    (
        {"type": "array", "items": fields(k=text()), "x-kubernetes-list-type": "map"},
        {
            (
                REQUIRED,
                f"{X}.x-kubernetes-list-map-keys",
                "Required value: must not be empty if x-kubernetes-list-type is map",
            )
        },
    ),
    (
        {**KEYED, "items": fields(k=text())},
        {
            (
                REQUIRED,
                f"{X}.items.properties[k].default",
                "Required value: this property is in x-kubernetes-list-map-keys, so it must have a "
                "default or be a required property",
            )
        },
    ),
    (
        {"type": "integer", "minimum": 3, "default": 1},
        {
            (
                INVALID,
                f"{X}.default",
                "Invalid value: 1:  in body should be greater than or equal to 3",
            )
        },
    ),
    (
        {**fields(a=text()), "default": {"b": 1}},
        {(INVALID, f"{X}.default", 'Invalid value: {"b":1}: must not have unknown fields')},
    ),
]


VALUES: dict[str, JsonObject] = {
    "integer": {"type": "integer", "minimum": 1, "maximum": 10, "multipleOf": 2},
    "small": {"type": "integer", "format": "int32"},
    "number": {"type": "number", "exclusiveMinimum": True, "minimum": 0.5},
    "text": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a.*$"},
    "choice": {"type": "string", "enum": ["red", "blue"]},
    "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": INTEGER},
    "object": {
        **fields(x=text(), y=text()),
        "required": ["x", "y"],
        "minProperties": 1,
        "maxProperties": 2,
    },
    "map": {"type": "object", "additionalProperties": INTEGER},
    "flag": {"type": "boolean"},
    "either": {"x-kubernetes-int-or-string": True},
    "any": {**fields(p=text(), q=text()), "anyOf": [{"required": ["p"]}, {"required": ["q"]}]},
    "one": {**fields(p=text(), q=text()), "oneOf": [{"required": ["p"]}, {"required": ["q"]}]},
    "all": {"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 5}]},
    "not": {"type": "string", "not": {"enum": ["bad"]}},
    "maybe": {"type": "string", "nullable": True},
    "time": {"type": "string", "format": "date-time"},
}
REFUSED: list[tuple[JsonObject, Causes]] = [
    ({"integer": 0}, {(INVALID, "integer", "0: {} in body should be greater than or equal to 1")}),
    (
        {"integer": 11},
        {
            (INVALID, "integer", "11: {} in body should be a multiple of 2"),
            (INVALID, "integer", "11: {} in body should be less than or equal to 10"),
        },
    ),
    (
        {"integer": "x"},
        {(MISTYPED, "integer", '"string": {} in body must be of type integer: "string"')},
    ),
    (
        {"small": 2**40},
        {
            (
                INVALID,
                "",
                '"": Checked value must be of type integer with format int32 in spec.small',
            )
        },
    ),
    ({"number": 0.5}, {(INVALID, "number", "0.5: {} in body should be greater than 0.5")}),
    ({"text": "a"}, {(INVALID, "text", '"a": {} in body should be at least 2 chars long')}),
    ({"text": "xx"}, {(INVALID, "text", "\"xx\": {} in body should match '^a.*$'")}),
    ({"text": 1}, {(MISTYPED, "text", '"integer": {} in body must be of type string: "integer"')}),
    ({"list": []}, {(INVALID, "list", "0: {} in body should have at least 1 items")}),
    (
        {"list": ["x"]},
        {(MISTYPED, "list[0]", '"string": {} in body must be of type integer: "string"')},
    ),
    (
        {"map": {"k.1": "x"}},
        {(MISTYPED, "map.k.1", '"string": {} in body must be of type integer: "string"')},
    ),
    ({"flag": 1}, {(MISTYPED, "flag", '"integer": {} in body must be of type boolean: "integer"')}),
    (
        {"either": True},
        {(MISTYPED, "either", '"boolean": {} in body must be of type integer,string: "boolean"')},
    ),
    (
        {"one": {"p": "1", "q": "1"}},
        {
            (
                INVALID,
                "",
                '"": "spec.one" must validate one and only one schema (oneOf). Found 2 valid '
                "alternatives",
            )
        },
    ),
    (
        {"all": 1},
        {
            (INVALID, "all", "1: {} in body should be greater than or equal to 3"),
            (INVALID, "", '"": "spec.all" must validate all the schemas (allOf)'),
        },
    ),
    ({"not": "bad"}, {(INVALID, "", '"": "spec.not" must not validate the schema (not)')}),
    ({"time": "x"}, {(MISTYPED, "time", '"x": {} in body must be of type date-time: "x"')}),
]
OTHERWISE: list[tuple[JsonObject, Causes]] = [
    (
        {"choice": "green"},
        {
            (
                UNSUPPORTED,
                "spec.choice",
                'Unsupported value: "green": supported values: "red", "blue"',
            )
        },
    ),
    (
        {"text": "abcde"},
        {("FieldValueTooLong", "spec.text", "Too long: may not be more than 4 bytes")},
    ),
    (
        {"list": [1, 2, 3]},
        {("FieldValueTooMany", "spec.list", "Too many: 3: must have at most 2 items")},
    ),
    (
        {"object": {}},
        {
            (
                INVALID,
                "spec.object",
                "Invalid value: 0: spec.object in body should have at least 1 properties",
            ),
            (REQUIRED, "spec.object.x", "Required value"),
            (REQUIRED, "spec.object.y", "Required value"),
        },
    ),
    (
        {"any": {}},
        {
            (
                INVALID,
                "<nil>",
                'Invalid value: "": "spec.any" must validate at least one schema (anyOf)',
            ),
            (REQUIRED, "spec.any.p", "Required value"),
        },
    ),
]
