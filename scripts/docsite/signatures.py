"""Declarations as they are read on a page: heads of functions and classes, without their bodies."""

import ast
from collections.abc import Iterator

from docsite.declarations import Declaration, Function, declarations

# A line of code that is not cut off beside the navigation.
_WIDTH = 84
# A longer value tells a reader less than an ellipsis.
_LONGEST_VALUE = 40
_SHOWN_DECORATORS = ("property", "classmethod", "staticmethod")
_BOUND = ("self", "cls", "mcls")


def heads(declaration: Declaration) -> str:
    """Return the code that stands above the description of a declaration."""
    return "\n".join(_head(declaration.name, node) for node in declaration.nodes)


def members(module: str, node: ast.ClassDef) -> tuple[Declaration, ...]:
    """Return the public methods and properties of a class."""
    return tuple(
        each
        for each in declarations(module, node.body)
        if not each.name.startswith("_") and isinstance(each.nodes[0], Function)
    )


def fields(module: str, node: ast.ClassDef) -> tuple[Declaration, ...]:
    """Return the public fields of a class, and the members of an enum."""
    return tuple(
        each
        for each in declarations(module, node.body)
        if not each.name.startswith("_")
        and isinstance(each.nodes[0], ast.AnnAssign | ast.Assign)
        and "ClassVar" not in ast.unparse(each.nodes[0])
    )


def _head(name: str, node: ast.stmt) -> str:
    match node:
        case ast.ClassDef():
            return _class(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _function(name, node)
        case ast.AnnAssign(annotation=annotation, value=value):
            return f"{name}: {ast.unparse(annotation)}{_value(value)}"
        case ast.Assign(value=value):
            return f"{name}{_value(value)}"
    return name


def _class(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(each) for each in node.bases)
    lines = [f"class {node.name}({bases}):" if bases else f"class {node.name}:"]
    for each in fields("", node):
        lines.append(f"    {_head(each.name, each.nodes[0])}")
    for each in declarations("", node.body):
        if each.name == "__init__" and isinstance(initial := each.nodes[-1], Function):
            lines += [f"    {line}" for line in _function("__init__", initial).splitlines()]
    return "\n".join(lines) if len(lines) > 1 else lines[0].removesuffix(":")


def _function(name: str, node: Function) -> str:
    decorators = [ast.unparse(each) for each in node.decorator_list]
    above = [f"@{each}" for each in decorators if each in _SHOWN_DECORATORS]
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and name != "__init__" else ""
    parameters = list(_parameters(node.args))
    line = f"{word} {name}({', '.join(parameters)}){returns}"
    if len(line) > _WIDTH:
        line = "\n".join(
            (f"{word} {name}(", *(f"    {each}," for each in parameters), f"){returns}")
        )
    return "\n".join((*above, line))


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for at, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        if at or argument.arg not in _BOUND:
            yield _parameter(argument, default)
        if at + 1 == len(arguments.posonlyargs) and argument.arg not in _BOUND:
            yield "/"
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default)
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg, None)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    if default is None:
        return f"{argument.arg}{annotation}"
    sign = " = " if annotation else "="
    return f"{argument.arg}{annotation}{sign}{_shortened(default)}"


def _value(value: ast.expr | None) -> str:
    return f" = {_shortened(value)}" if value is not None else ""


def _shortened(value: ast.expr) -> str:
    text = ast.unparse(value)
    return text if len(text) <= _LONGEST_VALUE and "\n" not in text else "..."
