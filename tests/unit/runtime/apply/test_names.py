"""Names of children fit, follow from their owner's, and are not shared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.runtime.apply.names import LABEL_LENGTH, NAME_LENGTH, child_name

owners = st.text("ab-.", min_size=1, max_size=300)


def test_short_name_stays_as_it_is() -> None:
    assert child_name("shop", "-tunnel") == "shop-tunnel"
    assert child_name("a" * LABEL_LENGTH, length=LABEL_LENGTH) == "a" * LABEL_LENGTH


def test_cut_name_ends_in_its_hash_and_never_in_two_dashes() -> None:
    assert child_name("a" * 300, "-tunnel") == "a" * 237 + "-9835fa6b-tunnel"
    assert child_name("a" * 53 + "-" * 47, length=LABEL_LENGTH).startswith("a" * 53 + "-")
    assert "--" not in child_name("a" * 53 + "-" * 47, length=LABEL_LENGTH)


@given(owners, st.sampled_from(["", "-tunnel", "-0"]))
def test_every_name_fits_with_its_suffix(owner: str, suffix: str) -> None:
    for length in (NAME_LENGTH, LABEL_LENGTH):
        name = child_name(owner, suffix, length=length)
        assert len(name) <= length
        assert name.endswith(suffix)


@given(owners, owners)
def test_two_owners_never_share_a_name(one: str, other: str) -> None:
    if one != other:
        assert child_name(one, length=LABEL_LENGTH) != child_name(other, length=LABEL_LENGTH)
