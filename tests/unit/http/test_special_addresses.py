"""Addresses that nobody is called at, in every spelling, also where a name leads to one."""

from __future__ import annotations

import pytest

from quintant.http.special_addresses import resolve_host, special_kind


@pytest.mark.parametrize(
    "address",
    [
        "169.254.0.1",
        "0xa9fea9fe",
        "2852039166",
        "169.254.43518",
        "0251.0376.0251.0376",
        "fe80::1",
        "fe80::1%eth0",
        "::ffff:169.254.169.254",
        "2002:a9fe:a9fe::1",
        "64:ff9b::169.254.169.254",
    ],
)
def test_link_local_address_is_known_in_every_spelling(address: str) -> None:
    assert special_kind(address) == "link-local"


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0.0.0.0", "unspecified"),
        ("0", "unspecified"),
        ("::", "unspecified"),
        ("::ffff:0.0.0.0", "unspecified"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("240.0.0.1", "reserved"),
        ("100.100.100.200", "a cloud's metadata service"),
        ("fd00:ec2::254", "a cloud's metadata service"),
    ],
)
def test_special_address_has_a_kind(address: str, kind: str) -> None:
    assert special_kind(address) == kind


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1", "::1", "10.0.0.1", "fd00::1", "example.com", "::ffff:10.0.0.1", "8.8.8.8",
     "64:ff9b::8.8.8.8", "2001:db8::1"],
)  # fmt: skip
def test_other_addresses_are_not_special(address: str) -> None:
    assert special_kind(address) == ""


@pytest.mark.realtime
async def test_name_is_looked_at_by_what_it_leads_to() -> None:
    # To the resolver this is a name.
    with pytest.raises(PermissionError, match="link-local"):
        await resolve_host("0xa9fea9fe", 80, guarded=True)
    assert await resolve_host("0x7f000001", 80, guarded=True) == [("127.0.0.1", 80)]
    assert await resolve_host("127.0.0.1", 80, guarded=True) == [("127.0.0.1", 80)]
