"""A chain knows its ends, its members' changes and what clients wrote, however it was linked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.agents.lightpeer.chain.chain import Chain, Link
from quintant.wire.lightpeer import BlockType
from quintant.wire.peeradmin import Card

links = st.lists(st.sampled_from(BlockType), max_size=12).map(
    lambda kinds: [Link(f"b{number}", kind) for number, kind in enumerate(kinds)]
)


@given(links)
def test_chain_tells_what_it_was_given(given_links: list[Link]) -> None:
    chain = Chain(given_links)
    assert list(chain.after("")) == list(chain.until(chain.head)) == given_links
    assert chain.networks + chain.clients == len(chain) == len(given_links)
    clients = [each.id for each in given_links if each.type == BlockType.CLIENT]
    networks = [each.id for each in given_links if each.type == BlockType.NETWORK]
    assert chain.newest_client == (clients[-1] if clients else "")
    assert chain.newest_network == (networks[-1] if networks else "")


@given(links, st.data())
def test_members_changed_since_a_block_if_a_list_follows_it(
    given_links: list[Link], data: st.DataObject
) -> None:
    chain = Chain(given_links)
    place = data.draw(st.integers(-1, len(given_links) - 1))
    identity = given_links[place].id if place >= 0 else ""
    later = given_links[place + 1 :]
    assert chain.changed_since(identity) == any(each.type == BlockType.NETWORK for each in later)
    assert list(chain.after(identity)) == later
    assert list(chain.down(chain.head, identity)) == later[::-1]


def test_what_was_linked_anew_is_still_held() -> None:
    chain = Chain([Link("a.77", BlockType.CLIENT)])
    assert chain.held("a") == chain.held("a.99") == "a.77"
    assert "a" not in chain
    assert not chain.held("b")


def test_longer_chain_beats_its_beginning_and_of_equals_exactly_one_wins() -> None:
    short, long = Card("a", "r", "x", 1, 2), Card("b", "r", "y", 1, 3)
    other = Card("c", "r", "z", 1, 3)
    assert long.beats(short)
    assert not short.beats(long)
    assert long.beats(other) is not other.beats(long)
    assert not long.beats(long)


def test_card_survives_its_metadata_and_nonsense_is_none() -> None:
    card = Card("10.0.0.1:9081", "r", "h", 3, 4, "ns/net")
    assert Card.read(card.metadata()) == card
    empty = Card("10.0.0.1:9081")
    assert Card.read(empty.metadata()) == empty
    for nonsense in ("", "a,b,c,d", "a,b,1", "a,b,1,-1", "a,b,1," + "9" * 5000):
        assert Card.read({**card.metadata(), "klight-chain": nonsense}) is None
