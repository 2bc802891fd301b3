"""CompositedCompiler: the expressions of a policy, which may refer to its variables.

A variable is known to the expressions after it, by the type it has, or as anything where that is
no simple type. The language is loaded with the first expression: nothing of `cel` is imported
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.validation.webhooks.environment import admission_types
from quintant.core.errors import Cause

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel import CompiledRule
    from quintant.cluster.apiserver.cel.types import CelType

VARIABLES = "variables"
_VARIABLES_TYPE = "kubernetes.variables"
_KEPT = frozenset(
    {"bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"}
)
_CONTAINERS = frozenset({"list", "map"})
# What a type is called where an expression has the wrong one.
_OUTPUT_NAMES = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}


class PolicyCompiler:
    """Compiles the expressions of one policy, in order.

    `known` are types of variables of which an expression knows nothing by itself.
    """

    def __init__(
        self,
        *,
        params: bool,
        composed: bool = True,
        known: Mapping[str, CelType] | None = None,
    ) -> None:
        self._params, self._composed, self._known = params, composed, known or {}
        self._variables: dict[str, CelType] = {}

    def compile_variable(self, name: str, expression: str) -> CompiledRule:
        """A variable's program, known from now on; cel.Uncompilable if it makes no sense."""
        from quintant.cluster.apiserver.cel import Uncompilable
        from quintant.cluster.apiserver.cel.types import ANY

        try:
            found = self.compile(expression)
        except Uncompilable:
            self._variables[name] = ANY
            raise
        self._variables[name] = _simplified(found.output)
        return found

    def compile(
        self, expression: str, *returns: str, authorizer: bool = True, patch_types: bool = False
    ) -> CompiledRule:
        """A program that returns one of some types, or anything; else cel.Uncompilable."""
        from quintant.cluster.apiserver.cel import Uncompilable, compile_rule
        from quintant.cluster.apiserver.cel.types import CelType

        declared = admission_types(params=self._params, authorizer=authorizer)
        types = {**declared, **self._known}
        if self._composed:
            types[VARIABLES] = CelType(_VARIABLES_TYPE, fields=dict(self._variables))
        found = compile_rule(expression, types, patch_types=patch_types)
        if returns and found.type not in returns:
            raise Uncompilable(_misfit(returns, found.output))
        return found


def _misfit(returns: tuple[str, ...], output: CelType) -> str:
    wanted = [_OUTPUT_NAMES.get(each, each) for each in returns]
    choice = wanted[0] if len(wanted) == 1 else f"one of [{' '.join(wanted)}]"
    return f"must evaluate to {choice} but got {output_name(output)}"


def output_name(output: CelType) -> str:
    """What a type is called as the result of an expression."""
    name = _OUTPUT_NAMES.get(output.name, output.name)
    if not output.params:
        return name
    return f"{name}({', '.join(map(output_name, output.params))})"


def expression_causes(
    compiler: PolicyCompiler,
    expression: str,
    path: str,
    *returns: str,
    authorizer: bool = True,
    patch_types: bool = False,
) -> Iterator[Cause]:
    """What is wrong with an expression that shall return one of some types."""
    from quintant.cluster.apiserver.cel import Uncompilable

    try:
        compiler.compile(expression, *returns, authorizer=authorizer, patch_types=patch_types)
    except Uncompilable as error:
        yield invalid(path, expression, str(error))


def _simplified(output: CelType) -> CelType:
    """A variable's type as others see it: of objects and opaque values nothing is known."""
    from quintant.cluster.apiserver.cel.types import ANY, CelType

    if output.name in _KEPT:
        return CelType(output.name)
    if output.name in _CONTAINERS:
        return CelType(output.name, tuple(map(_simplified, output.params)))
    return ANY
