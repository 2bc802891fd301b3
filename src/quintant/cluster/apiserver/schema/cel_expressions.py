"""ValidationRules, cel.Compile: the CEL rules of one schema: spelling, types and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.cel.schemas import declare
from quintant.cluster.apiserver.golang.printing import encoded
from quintant.cluster.apiserver.meta.field_errors import (
    INTERNAL,
    INVALID,
    forbidden,
    invalid,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.json_path import BadPath, field_path
from quintant.cluster.apiserver.schema.cel_budget import RULE_LIMIT, RuleSite, too_expensive
from quintant.cluster.apiserver.schema.cel_rule import ROOT, BadRule, SchemaRule, compile_rule
from quintant.cluster.apiserver.schema.structural import RULES
from quintant.core.errors import Cause

Schema = Mapping[str, Any]
_UNDECLARED = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)
REASONS = (
    *("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
)


def validate_rule_texts(schema: Schema, path: str) -> Iterator[Cause]:
    """What is wrong with how rules are written down."""
    for at, rule in enumerate(schema.get(RULES) or ()):
        item_path = f"{path}.{RULES}[{at}]"
        yield from _texts(rule, item_path)
        yield from _reason(rule, item_path)
        yield from _field(rule, item_path, schema)


def _texts(rule: Schema, path: str) -> Iterator[Cause]:
    text, message = rule.get("rule") or "", rule.get("message") or ""
    computed = rule.get("messageExpression") or ""
    if not text.strip():
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _broken(message.strip()):
        yield invalid(f"{path}.message", message, "must not contain line breaks")
    elif _broken(text.strip()) and not message.strip():
        why = "message must be specified if rule contains line breaks"
        yield required(f"{path}.message", why)
    if computed and not computed.strip():
        why = "messageExpression must be non-empty if specified"
        yield required(f"{path}.messageExpression", why)


def _broken(text: str) -> bool:
    return "\n" in text or "\r" in text


def _reason(rule: Schema, path: str) -> Iterator[Cause]:
    reason = rule.get("reason")
    if reason is not None and reason not in REASONS:
        yield not_supported(f"{path}.reason", reason, REASONS)


def _field(rule: Schema, rule_path: str, schema: Schema) -> Iterator[Cause]:
    path = rule.get("fieldPath") or ""
    if path and not path.strip():
        yield invalid(f"{rule_path}.fieldPath", path, "must be non-empty if specified")
    if _broken(path):
        yield invalid(f"{rule_path}.fieldPath", path, "must not contain line breaks")
    if path:
        try:
            field_path(path, schema)
        except BadPath:
            yield invalid(f"{rule_path}.fieldPath", path, "must be a valid path")


def validate_rules(schema: Schema, site: RuleSite) -> Iterator[Cause]:
    """What is wrong with what rules say."""
    declared = declare(schema, root=site.root, name=ROOT)
    if declared is None:
        yield Cause(INTERNAL, f"Internal error: {_UNDECLARED}", f"{site.path}.{RULES}")
        return
    for at, rule in enumerate(schema.get(RULES) or ()):
        item_path = f"{site.path}.{RULES}[{at}]"
        try:
            found = compile_rule(rule, declared, schema)
        except BadRule as error:
            yield _uncompilable(rule, f"{item_path}.{error.field}", str(error))
            continue
        yield from _costs(found, item_path, site)
        yield from _old(rule, found, item_path, site.uncorrelated)


def _costs(rule: SchemaRule, path: str, site: RuleSite) -> Iterator[Cause]:
    cost = site.cardinality.times(rule.program.cost, rule.type.least)
    if cost > RULE_LIMIT:
        text = too_expensive("estimated rule cost", cost, RULE_LIMIT)
        yield forbidden(f"{path}.rule", text)
    site.budget.spend(f"{path}.rule", cost)
    if rule.message_program is not None:
        cost = rule.message_program.cost
        if cost > RULE_LIMIT:
            text = too_expensive("estimated messageExpression cost", cost, RULE_LIMIT)
            yield forbidden(f"{path}.messageExpression", text)
        site.budget.spend(f"{path}.messageExpression", cost)


def _old(rule: Schema, compiled: SchemaRule, path: str, uncorrelated: str) -> Iterator[Cause]:
    if compiled.transition and uncorrelated:
        text = "oldSelf cannot be used on the uncorrelatable portion of the schema within"
        yield invalid(f"{path}.rule", compiled.text, f"{text} {uncorrelated}")
    elif not compiled.transition and rule.get("optionalOldSelf") is not None:
        text = "may not be set if oldSelf is not used in rule"
        yield invalid(f"{path}.optionalOldSelf", rule["optionalOldSelf"], text)


def _uncompilable(rule: Schema, path: str, why: str) -> Cause:
    """The whole rule is shown, as Go prints the structure it is in there."""
    shown = {
        "Rule": rule.get("rule") or "",
        "Message": rule.get("message") or "",
        "MessageExpression": rule.get("messageExpression") or "",
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath") or "",
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    members = ",".join(f"{encoded(name)}:{encoded(value)}" for name, value in shown.items())
    return Cause(INVALID, f"Invalid value: {{{members}}}: {why}", path)
