"""Messages of PeerAdmin are protobuf: what we write others read, and the other way round."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from quintant.wire.lightpeer import Timestamp
from quintant.wire.peeradmin import Member, MemberState, StatusResponse

TEXT, MESSAGE, UINT64 = 9, 11, 4
"""Types of fields, as descriptors number them."""


def _oracle() -> Any:
    """The message as protobuf's own library knows it, in a pool of its own."""
    file = descriptor_pb2.FileDescriptorProto(name="peer.proto", syntax="proto3")
    _message(file, "Time", seconds=(1, UINT64, ""), nanos=(2, UINT64, ""))
    _message(
        file,
        "Member",
        address=(1, TEXT, ""),
        name=(2, TEXT, ""),
        state=(3, UINT64, ""),
        seen=(4, MESSAGE, "Time"),
    )
    _message(
        file,
        "Status",
        address=(1, TEXT, ""),
        head=(4, TEXT, ""),
        height=(5, UINT64, ""),
        clients=(6, UINT64, ""),
        members=(7, MESSAGE, "Member"),
        version=(10, TEXT, ""),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Status"))


def _message(file: Any, title: str, /, **fields: tuple[int, int, str]) -> None:
    made = file.message_type.add(name=title)
    for field, (number, kind, other) in fields.items():
        label = 3 if field == "members" else 1
        added = made.field.add(name=field, number=number, type=kind, label=label)
        if other:
            added.type_name = other


ORACLE = _oracle()
texts = st.text(st.characters(codec="utf-8"), max_size=20)
numbers = st.integers(0, 2**63)
members = st.builds(
    Member,
    texts,
    texts,
    st.sampled_from(MemberState),
    st.none() | st.builds(Timestamp, numbers, st.integers(0, 999_999_999)),
)
statuses = st.builds(
    StatusResponse,
    address=texts,
    head=texts,
    height=numbers,
    clients=numbers,
    members=st.lists(members, max_size=4).map(tuple),
    version=texts,
)


@given(statuses)
def test_status_is_read_by_others_and_read_back(status: StatusResponse) -> None:
    other = ORACLE.FromString(status.encode())
    assert [each.address for each in other.members] == [each.address for each in status.members]
    assert (other.head, other.height, other.version) == (
        status.head,
        status.height,
        status.version,
    )
    assert StatusResponse.decode(other.SerializeToString()) == status
