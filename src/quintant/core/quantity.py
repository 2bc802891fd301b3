"""resource.Quantity: an amount, written as a text or as a number, and a text once it is read.

`10`, `"10"` and `10Gi` are all amounts. Their values are computed by `quintant.api.quantity`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NewType, TypeAlias

if TYPE_CHECKING:
    # A text in a program is one: {"cpu": "100m"} needs no call around it.
    Quantity: TypeAlias = str
    """An amount as its author wrote it, such as `500m` or `2Gi`."""
else:
    Quantity = NewType("Quantity", str)


class _AnyText(type):
    """What is read is a `str`, not an instance of the class that it is read by."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, str)


class QuantityText(metaclass=_AnyText):
    """How msgspec reads a Quantity: by `read_quantity`."""


def read_quantity(value: Any) -> str:
    """The text of an amount; ValueError if it is neither a text nor a number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError("expected an amount such as 2, 250m or 1.5Gi")
