"""Continue tokens come back as they went out, and no other text is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.meta.continue_token import read_token, write_token
from quintant.cluster.apiserver.meta.status import StatusError

KEYS = st.from_regex(r"[a-z0-9-]+(/[a-z0-9-]+)?", fullmatch=True)


@given(rv=st.integers(1, 2**40), start=KEYS)
def test_a_token_says_what_was_written_into_it(rv: int, start: str) -> None:
    found = read_token(write_token(rv, start))
    assert (found.rv, found.start) == (rv, start)


@given(st.text(max_size=40))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(StatusError) as refused:
        read_token(text)
    assert refused.value.code == 400
    assert "invalid continue token" in str(refused.value)
