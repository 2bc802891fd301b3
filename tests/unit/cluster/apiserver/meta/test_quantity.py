"""Quantities are stored in the server's own spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.quantity import parse_quantity
from quintant.cluster.apiserver.meta.quantity import canonical

# What Go's resource.Quantity makes of each.
SPELT = {
    "0": "0",
    "0m": "0",
    "1024Mi": "1Gi",
    "1Gi": "1Gi",
    "1536Mi": "1536Mi",
    "1.5Gi": "1536Mi",
    "8Ki": "8Ki",
    "512Ki": "512Ki",
    "0.5Ki": "512",
    "0.3Ki": "307200m",
    "0.5": "500m",
    "1.5": "1500m",
    "1.500": "1.500",
    "007": "007",
    "+7": "+7",
    "-1.5": "-1500m",
    "100000m": "100",
    "1000": "1k",
    "12E": "12E",
    "1e3": "1e3",
    "1e4": "10e3",
    "1000e3": "1e6",
    "0.0000000001": "1n",
    "123456789123456789123": "123456789123456789123",
    "9223372036854775807Ki": "9223372036854775807",
}


@pytest.mark.parametrize(("text", "spelt"), SPELT.items())
def test_a_quantity_is_spelt_as_go_spells_it(text: str, spelt: str) -> None:
    assert canonical(text) == spelt


@pytest.mark.parametrize("text", ["", "many", "1Zi", "1 Gi", "--1", "1e", "0x10"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantit"):
        canonical(text)


NUMBERS = st.from_regex(r"[0-9]{1,12}(\.[0-9]{1,6})?", fullmatch=True)
SUFFIXES = st.sampled_from(
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e3", "E-2", "e1"]
)


@given(NUMBERS, SUFFIXES)
def test_spelling_changes_no_value_and_settles_at_once(number: str, suffix: str) -> None:
    spelt = canonical(number + suffix)
    assert parse_quantity(spelt) == parse_quantity(number + suffix)
    assert canonical(spelt) == spelt
