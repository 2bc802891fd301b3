"""ValidationRule, CompilationResult: one rule of x-kubernetes-validations, and its result.

Compiling happens when a definition is written, where complaints are told to its author, and again
when it is served, where there can be none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quintant.cluster.apiserver import cel
from quintant.cluster.apiserver.cel import CelError, CompiledRule, TooExpensive
from quintant.cluster.apiserver.cel.schemas import convert, declare
from quintant.cluster.apiserver.cel.types import CelType, optional_of
from quintant.cluster.apiserver.cel.values import NONE, Optional
from quintant.cluster.apiserver.meta.json_path import BadPath, field_path

Schema = Mapping[str, Any]
MESSAGE_BYTES = 5 * 1024
"""Of a computed message; a longer one is ignored."""
ROOT = "selfType"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a run of a rule came to: it holds, or it does not, or it failed."""

    holds: bool = False
    cost: int = 0
    error: str = ""
    fatal: bool = False
    """No other rule may run after this one."""


@dataclass(frozen=True, slots=True)
class RuleInput:
    """What the rules of a place are about, as they see it."""

    value: Any
    old: Any = None
    """None if nothing was there before."""


@dataclass(frozen=True, slots=True)
class SchemaRule:
    """A rule that compiles."""

    text: str
    program: CompiledRule
    type: CelType
    message: str = ""
    message_program: CompiledRule | None = None
    reason: str = ""
    field: str = ""
    """What it is about, from its own place; empty for that place."""
    optional_old: bool = False

    @property
    def transition(self) -> bool:
        """Whether it compares with what was there before."""
        return "oldSelf" in self.program.uses

    @property
    def label(self) -> str:
        """How it is named in errors."""
        return (self.message or self.text).strip()

    def input(self, value: Any, old: Any) -> RuleInput:
        """A value of the place the rule is about, and what was there before."""
        before = None if old is None else convert(old, self.type)
        return RuleInput(convert(value, self.type), before)

    def run(self, subject: RuleInput, limit: int) -> RuleResult:
        """Evaluate the rule."""
        try:
            outcome = self.program.run(self._variables(subject), limit)
        except TooExpensive as error:
            text = "no further validation rules will be run due to call cost exceeds limit for rule"
            return RuleResult(cost=limit, error=f"'{error}': {text}: {self.label}", fatal=True)
        except CelError as error:
            return RuleResult(error=self._failure(str(error)))
        return RuleResult(outcome.value is True, outcome.cost)

    def explain(self, subject: RuleInput, limit: int) -> tuple[str, int]:
        """The message for what breaks the rule, and what it cost."""
        message, cost = self._computed(subject, limit)
        return message or self.message.strip() or f"failed rule: {self.text.strip()}", cost

    def _computed(self, subject: RuleInput, limit: int) -> tuple[str, int]:
        """The computed message; empty if there is none worth telling."""
        if self.message_program is None:
            return "", 0
        try:
            outcome = self.message_program.run(self._variables(subject), limit)
        except CelError:
            return "", 0
        text = outcome.value.strip()
        usable = len(text.encode()) <= MESSAGE_BYTES and "\n" not in text
        return text if usable else "", outcome.cost

    def _variables(self, subject: RuleInput) -> dict[str, Any]:
        variables, old = {"self": subject.value}, subject.old
        if self.optional_old:
            return {**variables, "oldSelf": NONE if old is None else Optional(old)}
        return variables if old is None else {**variables, "oldSelf": old}

    def _failure(self, error: str) -> str:
        if error.startswith("no such overload"):
            text = "call arguments did not match a supported operator, function or macro signature"
            return f"'{error}': {text} for rule: {self.label}"
        return f"{error} evaluating rule: {self.label}"


class BadRule(ValueError):
    """A rule does not compile; `field` is the part of it that does not."""

    def __init__(self, text: str, field: str = "rule") -> None:
        super().__init__(text)
        self.field = field


def compile_rules(schema: Schema, *, root: bool) -> Iterator[SchemaRule]:
    """The rules of a schema's own place; BadRule for the first that does not compile."""
    declared = declare(schema, root=root, name=ROOT)
    if declared is None:
        return
    for each in schema.get("x-kubernetes-validations") or ():
        yield compile_rule(each, declared, schema)


def compile_rule(rule: Mapping[str, Any], declared: CelType, schema: Schema) -> SchemaRule:
    """A rule about values of a type; BadRule if it does not compile."""
    optional = bool(rule.get("optionalOldSelf"))
    variables = {"self": declared, "oldSelf": optional_of(declared) if optional else declared}
    text, message = rule.get("rule", ""), rule.get("messageExpression") or ""
    try:
        program = cel.compile_rule(text, variables)
    except cel.Uncompilable as error:
        raise BadRule(str(error)) from None
    if program.type not in ("bool", "dyn"):
        raise BadRule("cel expression must evaluate to a bool")
    return SchemaRule(
        text,
        program,
        declared,
        message=rule.get("message") or "",
        message_program=_message_program(message, variables) if message else None,
        reason=rule.get("reason") or "",
        field=_relative(rule.get("fieldPath") or "", schema),
        optional_old=optional,
    )


def _message_program(text: str, variables: Mapping[str, CelType]) -> CompiledRule:
    try:
        program = cel.compile_rule(text, variables)
    except cel.Uncompilable as error:
        raise BadRule(f"messageExpression {error}", "messageExpression") from None
    if program.type not in ("string", "dyn"):
        raise BadRule("messageExpression must evaluate to a string", "messageExpression")
    return program


def _relative(path: str, schema: Schema) -> str:
    try:
        return field_path(path, schema).text if path else ""
    except BadPath:
        return ""
