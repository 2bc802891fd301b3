"""Promises of quintant.keys.sensitive."""

from __future__ import annotations

import pickle

import pytest

from quintant.keys.sensitive import Sensitive


@pytest.mark.parametrize("show", [repr, str, "{}".format, lambda hidden: f"{[hidden]}"[1:-1]])
def test_secret_shows_as_stars_however_it_is_printed(show: object) -> None:
    assert callable(show)
    assert show(Sensitive("sesame")) == "***"


def test_secret_comes_out_only_when_asked_for() -> None:
    assert Sensitive("sesame").reveal() == "sesame"
    assert Sensitive(b"sesame").reveal() == b"sesame"


def test_equal_secrets_are_equal_and_hash_alike() -> None:
    assert Sensitive("a") == Sensitive("a")
    assert Sensitive("a") != Sensitive("b")
    assert Sensitive("a") != "a"
    assert len({Sensitive("a"), Sensitive("a")}) == 1


def test_empty_secret_is_false() -> None:
    assert not Sensitive("")
    assert Sensitive("a")


def test_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(Sensitive("sesame"))
