from __future__ import annotations

from collections import Counter as Count
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import pytest

from quintant.client.fence import FENCE_KEY, FenceKey
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, InProcessTransport
from quintant.core.errors import ConfigError, ConnectError, NotLeader
from quintant.core.object import Request
from quintant.runtime.shard.layout import LEADER, by_key, by_namespace, range_of
from quintant.runtime.shard.owned_ranges import WRITE_SECONDS, OwnedRanges, ShardedController
from quintant.runtime.shard.range_states import RangeEvent
from quintant.runtime.shard.sent_writes import SentWrites
from quintant.testing.loop import advance

SHIPS = ("sea.dev", "ships")
A = Request("a", "sea")
NUMBER = range_of(A, 128)
PATH = "/apis/sea.dev/v1/namespaces/sea/ships"


def holding(*numbers: int, epoch: int = 7) -> OwnedRanges:
    """A process that works on some ranges, its Lease renewed."""
    owned = OwnedRanges(
        128,
        [
            ShardedController("ship", by_key, SHIPS),
            ShardedController("fleet", by_namespace),
            ShardedController("harbour", None),
        ],
    )
    owned.is_open = lambda: True
    for number in numbers:
        owned.step(number, RangeEvent.TAKEN, epoch)
        owned.step(number, RangeEvent.FILLED)
    return owned


def passes(owned: OwnedRanges, key: FenceKey, call: ApiRequest | None = None) -> bool:
    """Whether the fence lets a write of a key pass."""
    before = FENCE_KEY.set(key)
    try:
        owned.fence(call)
    except NotLeader:
        return False
    finally:
        FENCE_KEY.reset(before)
    return True


def begun(owned: OwnedRanges, request: Request = A, controller: str = "ship") -> FenceKey:
    key = owned.of(controller).begin(request, lambda: None)
    assert key is not None
    return key


def test_all_is_held_only_with_every_range_and_that_of_the_leader() -> None:
    def all_held(owned: OwnedRanges) -> bool:
        return owned.all_keys.held

    assert not all_held(holding(*range(128)))
    assert not all_held(holding(LEADER, *range(127)))
    owned = holding(LEADER, *range(128))
    assert all_held(owned)
    owned.step(3, RangeEvent.GIVE)
    assert all_held(owned)  # the map names us until the range is released
    owned.step(3, RangeEvent.DRAINED)
    owned.step(3, RangeEvent.RELEASED)
    assert not all_held(owned)
    owned.lose()
    assert not owned.of("ship").holds(A)


def test_a_key_of_a_range_that_is_held_is_taken_up_and_no_other() -> None:
    owned = holding(NUMBER)

    assert begun(owned) == FenceKey("ship", NUMBER, 7)
    assert owned.of("ship").begin(Request("b", "sea"), lambda: None) is None


def test_keys_of_a_single_controller_are_in_the_range_of_the_leader() -> None:
    assert begun(holding(LEADER), controller="harbour").range == LEADER
    assert holding(NUMBER).of("harbour").begin(A, lambda: None) is None


@pytest.mark.parametrize(
    ("events", "writes"),
    [
        ((), True),
        ((RangeEvent.GIVE,), True),
        ((RangeEvent.GIVE, RangeEvent.DRAINED), False),
        ((RangeEvent.LOST,), False),
    ],
)
def test_writes_pass_while_a_range_is_held_or_drained(
    events: tuple[RangeEvent, ...], writes: bool
) -> None:
    owned = holding(NUMBER)
    key = begun(owned)
    for event in events:
        owned.step(NUMBER, event)

    assert passes(owned, key) == writes


def test_nothing_is_written_while_a_range_is_filled() -> None:
    owned = holding()
    owned.step(NUMBER, RangeEvent.TAKEN, 7)

    assert not passes(owned, FenceKey("ship", NUMBER, 7))


def test_a_reconcile_that_began_in_an_epoch_before_writes_nothing() -> None:
    owned = holding(NUMBER)
    key = begun(owned)
    owned.lose()
    owned.step(NUMBER, RangeEvent.TAKEN, 9)
    owned.step(NUMBER, RangeEvent.FILLED)

    assert not passes(owned, key)
    assert passes(owned, FenceKey("ship", NUMBER, 9))


def test_nothing_is_written_when_the_lease_was_not_renewed() -> None:
    owned = holding(NUMBER)
    key = begun(owned)
    owned.is_open = lambda: False

    assert not passes(owned, key)


def test_a_write_of_no_key_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="leader=True"):
        holding(NUMBER).fence(ApiRequest("POST", PATH))


def test_an_object_of_a_sharded_kind_is_written_by_who_holds_its_own_key() -> None:
    owned = holding(NUMBER, LEADER)
    key = FenceKey("harbour", LEADER, 7)

    assert passes(owned, key, ApiRequest("PATCH", f"{PATH}/a"))
    assert not passes(owned, key, ApiRequest("PATCH", f"{PATH}/b/status"))
    assert passes(owned, key, ApiRequest("PATCH", "/api/v1/namespaces/sea/configmaps/b"))
    assert passes(owned, key, ApiRequest("POST", PATH))


def test_objects_of_a_sharded_kind_are_not_deleted_together() -> None:
    with pytest.raises(ConfigError, match="one by one"):
        passes(holding(NUMBER), FenceKey("ship", NUMBER, 7), ApiRequest("DELETE", PATH))


async def test_a_range_is_drained_when_its_keys_are_done() -> None:
    owned = holding(NUMBER)
    key = begun(owned)
    assert not owned.is_drained(NUMBER)
    assert owned.under_way(NUMBER) == ["ship sea/a"]
    owned.end(key, A)

    assert owned.is_drained(NUMBER)


async def test_a_range_with_a_long_call_is_not_drained() -> None:
    owned = holding(NUMBER)
    owned.calls = lambda: [("ship", A)]

    assert not owned.is_drained(NUMBER)
    assert owned.under_way(NUMBER) == ["call of ship sea/a"]


async def test_ranges_with_little_under_way_are_given_first() -> None:
    owned = holding(NUMBER, 0, 1)
    begun(owned)
    assert owned.by_weight() == [0, 1, NUMBER]
    owned.calls = lambda: [("harbour", A)]
    owned.step(LEADER, RangeEvent.TAKEN, 7)
    owned.step(LEADER, RangeEvent.FILLED)

    assert owned.by_weight() == [0, 1, NUMBER, LEADER]


async def test_however_many_ranges_there_are_a_call_is_not_hashed_for_each() -> None:
    hashed = Count[Request]()

    def noted(request: Request) -> Request:
        hashed[request] += 1
        return request

    owned = OwnedRanges(128, [ShardedController("ship", noted)])
    owned.calls = lambda: [("ship", Request(f"s{number}", "sea")) for number in range(100)]
    for number in range(128):
        owned.step(number, RangeEvent.TAKEN, 7)
        owned.step(number, RangeEvent.FILLED)
    owned.by_weight()
    owned.drained(range(128))
    owned.unsettled()

    assert max(hashed.values()) <= 4


async def test_what_is_lost_is_ended() -> None:
    owned, ended = holding(NUMBER), list[str]()
    owned.of("ship").begin(A, lambda: ended.append("a"))
    owned.lose()

    assert ended == ["a"]
    assert owned.unsettled() == [NUMBER]


@dataclass
class Server:
    """A server that answers, or does not."""

    answers: bool
    calls: list[ApiRequest] = field(default_factory=list)

    async def request(self, call: ApiRequest) -> ApiResponse:
        self.calls.append(call)
        if not self.answers:
            raise ConnectError("no answer")
        return ApiResponse(200)

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise NotImplementedError


def through(owned: OwnedRanges, server: Server) -> SentWrites:
    return SentWrites(InProcessTransport(server), owned, lambda: None)


async def written(owned: OwnedRanges, transport: SentWrites) -> None:
    before = FENCE_KEY.set(FenceKey("ship", NUMBER, 7))
    try:
        await transport.request(ApiRequest("PATCH", f"{PATH}/a", fence=owned.fence))
    finally:
        FENCE_KEY.reset(before)


async def test_a_write_without_an_answer_keeps_its_range_until_the_server_has_given_up() -> None:
    owned = holding(NUMBER)
    with pytest.raises(ConnectError):
        await written(owned, through(owned, Server(answers=False)))
    await advance(WRITE_SECONDS - 0.1)
    assert not owned.is_drained(NUMBER)
    await advance(0.2)

    assert owned.is_drained(NUMBER)


async def test_a_write_that_never_left_keeps_no_range() -> None:
    owned = holding(NUMBER)
    owned.is_open = lambda: False
    with pytest.raises(NotLeader):
        await written(owned, through(owned, Server(answers=False)))

    assert owned.is_drained(NUMBER)


async def test_a_write_says_whose_it_is_and_an_answer_ends_it() -> None:
    owned, server = holding(NUMBER), Server(answers=True)
    await written(owned, through(owned, server))

    (call,) = server.calls
    assert call.headers["user-agent"].endswith(f" range={NUMBER} epoch=7")
    assert owned.is_drained(NUMBER)
