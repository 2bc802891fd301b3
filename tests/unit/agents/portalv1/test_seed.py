from __future__ import annotations

import base64

import pytest

from quintant.agents.portalv1.seed import read_seed


def test_a_seed_is_read_with_or_without_a_line_end() -> None:
    text = base64.b64encode(bytes(range(32))).decode()
    assert read_seed(text) == read_seed(f"{text}\n") == bytes(range(32))


@pytest.mark.parametrize("text", ["", "AAAA", "not base64!", base64.b64encode(bytes(33)).decode()])
def test_what_is_no_seed_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ValueError, match="not 32 bytes in base64") as refused:
        read_seed(text)
    assert not text or text not in str(refused.value)
