"""What is stored beyond the limits of its type is found, each with its field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from quintant.core.object import Model
from quintant.core.schema.limits import beyond_limits

Count = Annotated[int, Meta(ge=0, le=10)]
Text = Annotated[str, Meta(max_length=3)]


class Inner(Model):
    """Something inside."""

    size_limit: Count | None = None


class Outer(Model):
    """Something with limits."""

    count: Count = 0
    text: Text = ""
    plain: int = 0
    inner: Inner = Inner()
    items: Annotated[tuple[Inner, ...], Meta(max_length=2)] = ()
    named: Mapping[str, Inner] = {}
    words: tuple[Text, ...] = ()
    either: int | str | None = None
    fixed: str = msgspec.field(default="", name="fixedName")


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        (Outer(), []),
        (Outer(count=10, plain=2**40, text="abc", either="x" * 99), []),
        (Outer(count=11), ["spec.count"]),
        (Outer(count=-1), ["spec.count"]),
        (Outer(text="abcd"), ["spec.text"]),
        (Outer(inner=Inner(size_limit=11)), ["spec.inner.sizeLimit"]),
        (Outer(items=(Inner(), Inner(size_limit=-1))), ["spec.items[1].sizeLimit"]),
        (Outer(items=(Inner(size_limit=-1),) * 3), ["spec.items"]),
        (Outer(named={"a": Inner(size_limit=12)}), ["spec.named[a].sizeLimit"]),
        (Outer(words=("ok", "long")), ["spec.words[1]"]),
    ],
)
def test_every_limit_is_looked_at(value: Outer, fields: list[str]) -> None:
    assert [each.field for each in beyond_limits(value, "spec")] == fields


def test_the_message_says_the_limit() -> None:
    causes = beyond_limits(Outer(count=2147483647), "spec")
    assert [each.message for each in causes] == ["2147483647 is more than 10"]
