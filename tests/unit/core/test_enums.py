"""Promises of quintant.core.enums."""

from __future__ import annotations

import pickle
from enum import Enum, auto

import pytest

from quintant.core.enums import fast_members


@fast_members
class Light(Enum):
    RED = auto()
    GREEN = auto()


def test_enum_is_still_an_enum() -> None:
    assert [*Light] == [Light.RED, Light.GREEN]
    assert Light["RED"] is Light(1) is Light.RED
    assert pickle.loads(pickle.dumps(Light.GREEN)) is Light.GREEN
    with pytest.raises(AttributeError):
        Light.RED = Light.GREEN  # type: ignore[misc, assignment]


def test_member_is_a_plain_attribute() -> None:
    assert vars(Light)["RED"] is Light.RED
