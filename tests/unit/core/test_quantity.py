"""An amount is a text or a number, as Kubernetes takes both, and always a text once it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import pytest

from quintant.core import codec
from quintant.core.errors import Undecodable
from quintant.core.object import Model
from quintant.core.quantity import Quantity
from quintant.core.schema.markers import QUANTITY, quantity
from quintant.core.schema.openapi import model_schema


class Amounts(Model):
    one: Quantity | None = None
    noted: Annotated[Quantity, quantity()] | None = None
    many: Mapping[str, Quantity] = {}
    listed: tuple[Quantity, ...] = ()


@pytest.mark.parametrize(
    ("written", "read"), [(10, "10"), ("10", "10"), (0, "0"), (0.5, "0.5"), ("1.5Gi", "1.5Gi")]
)
def test_a_number_is_read_as_its_text(written: Any, read: str) -> None:
    raw = msgspec.json.encode(
        {"one": written, "noted": written, "many": {"cpu": written}, "listed": [written]}
    )
    found = codec.decode_model(Amounts, raw)
    assert found == Amounts(
        one=Quantity(read),
        noted=Quantity(read),
        many={"cpu": Quantity(read)},
        listed=(Quantity(read),),
    )
    assert isinstance(found.one, str)
    assert codec.decode_model(Amounts, codec.encode(found)) == found


@pytest.mark.parametrize("written", [True, [], {}, [1]])
def test_what_is_neither_a_text_nor_a_number_is_no_amount(written: Any) -> None:
    with pytest.raises(Undecodable):
        codec.decode_model(Amounts, msgspec.json.encode({"many": {"cpu": written}}))


def test_the_schema_of_an_amount_takes_both() -> None:
    both = {"x-kubernetes-int-or-string": True, "pattern": QUANTITY}
    found = model_schema(Amounts)["properties"]
    assert found["one"] == found["noted"] == both
    assert found["many"]["additionalProperties"] == found["listed"]["items"] == both
