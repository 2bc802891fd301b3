"""Isolations as a table of nftables, to be replaced in one transaction."""

from collections.abc import Iterable, Iterator, Sequence

from realcluster.network_policy.rules import INGRESS, Isolation, Ports, Traffic

TABLE = "ip network_policy"
REFUSED = "reject with icmp admin-prohibited"
_OTHER_END = {True: "saddr", False: "daddr"}


def table(isolations: Sequence[Isolation]) -> str:
    """What `nft --file` takes; pods that no policy selects are not in it."""
    chains = "\n".join(_chain(each) for each in isolations)
    jumps = "\n".join(f"    {line}" for line in _jumps(isolations))
    return f"""\
add table {TABLE}
delete table {TABLE}
table {TABLE} {{
{chains}
  chain forward {{
    type filter hook forward priority filter; policy accept;
    ct state established,related accept
{jumps}
  }}
}}
"""


def _jumps(isolations: Iterable[Isolation]) -> Iterator[str]:
    """A packet passes the sender's chain, then the receiver's: each returns what it allows."""
    for egress in (True, False):
        own = [each for each in isolations if (each.direction == INGRESS) != egress]
        chosen = ", ".join(f"{each.address} : jump {_name(each)}" for each in own)
        if chosen:
            yield f"ip {_OTHER_END[egress]} vmap {{ {chosen} }}"


def _chain(isolation: Isolation) -> str:
    end = _OTHER_END[isolation.direction == INGRESS]
    lines = [f"    {line}" for each in isolation.allowed for line in _returns(each, end)]
    return "\n".join((f"  chain {_name(isolation)} {{", *lines, f"    {REFUSED}", "  }"))


def _name(isolation: Isolation) -> str:
    return f"{isolation.direction.lower()}_{isolation.address.replace('.', '_')}"


def _returns(traffic: Traffic, end: str) -> Iterator[str]:
    ends = ""
    if traffic.excluded:
        ends += f"ip {end} != {{ {', '.join(traffic.excluded)} }} "
    if traffic.networks:
        ends += f"ip {end} {{ {', '.join(traffic.networks)} }} "
    if not traffic.ports:
        yield f"{ends}return"
    for ports in traffic.ports:
        yield f"{ends}{_port(ports)} return"


def _port(ports: Ports) -> str:
    protocol = ports.protocol.lower()
    if not ports.first:
        return f"meta l4proto {protocol}"
    return f"{protocol} dport {ports.first}-{ports.last}"
