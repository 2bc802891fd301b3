from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.meta import formats

NAMES = (
    *("bsonobjectid", "byte", "cidr", "creditcard", "date", "date-time", "duration", "email"),
    *("hexcolor", "hostname", "ipv4", "ipv6", "isbn", "isbn10", "isbn13", "k8s-long-name"),
    *("k8s-short-name", "mac", "password", "rgbcolor", "ssn", "uri", "uuid", "uuid3", "uuid4"),
    "uuid5",
)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("uri", "http://a/%20?q", "a b"),
        ("uri", "mailto:x", "http://a:x/"),
        ("uri", "http://[::1]:80/", "http://[::1"),
        ("email", '"a b"@c', "a..b@c"),
        ("hostname", "é.com", "-a"),
        ("ipv4", "01.02.03.04", "1.2.3"),
        ("ipv6", "::ffff:1.2.3.4", "fe80::1%eth0"),
        ("cidr", "1.2.3.4/24", "1.2.3.4/33"),
        ("mac", "0000.5e00.5301", "00:00-5e:00:53:01"),
        ("uuid4", "123E4567e89b42d3a456426614174000", "123e4567-e89b-42d3-c456-426614174000"),
        ("isbn", "080442957X", "0321751044"),
        ("creditcard", "4111 1111 1111 1111", "4111-1111-1111-1112"),
        ("ssn", "111-11 1111", "111111111"),
        ("hexcolor", "fff", "#ffff"),
        ("rgbcolor", "rgb( 1 , 2 , 3 )", "rgb(256,1,1)"),
        ("byte", "YQ==", ""),
        ("date", "0000-02-29", "2020-02-30"),
        ("duration", "abc 3 day", "1"),
        ("duration", "99999999d", "99999999999999999999d"),
        ("duration", "-1.5h", "1 foo"),
        ("date-time", "2020-01-01t00:00:00z", "2020-01-01T24:00:00Z"),
        ("k8s-short-name", "a", "a.b"),
        ("k8s-long-name", "a.b", "a..b"),
        ("bsonobjectid", "507f1f77bcf86cd799439011", "x"),
    ],
)
def test_what_a_format_accepts(name: str, good: str, bad: str) -> None:
    check = formats.find("string", name)
    assert check is not None
    assert check(good)
    assert not check(bad)


@given(st.sampled_from(NAMES), st.text(max_size=20))
def test_every_text_is_judged(name: str, text: str) -> None:
    check = formats.find("string", name)
    assert check is not None
    assert check(text) in (True, False)


def test_a_format_means_something_for_its_type_only() -> None:
    assert formats.recognized("integer", "int32")
    assert not formats.recognized("integer", "date")
    assert not formats.recognized("object", "date")
    assert formats.find("string", "int32") is None
