"""Nodes whose memory is measured with noise: how often shifu moves devices, beside a plain rule.

The plain rule is what a scheduler without memory of its own would do: whoever is not on the freest
node goes there.
"""

from __future__ import annotations

from benchmarks.report import Budget, Table
from shifu_site.noise import NoisySite

ROUNDS = 120
"""An hour, with a reading every half minute."""
LEVELS = (0.05, 0.10)
"""Standard deviations of a reading, as parts of a node's memory."""
METHOD = (
    "nodes of 4 GiB, a fifth to three fifths of it in use, and deviceShifus of 40 MiB placed by "
    "memory; {rounds} readings of every node, each off by a normal distribution of that part of "
    "its memory. Moves of shifu over {seeds} seeds, all of them; beside it, over one seed, whoever "
    "is not on the freest node goes there."
)


def noise_table(devices: int, nodes: int, seeds: int) -> Table:
    """Moves in an hour, by how noisy readings are."""
    ours = {level: _moves(devices, nodes, seeds, level) for level in LEVELS}
    plain = {level: _plain_moves(devices, nodes, level) for level in LEVELS}
    return Table(
        f"An hour of noise: {devices:,} devices on {nodes} nodes",
        METHOD.format(rounds=ROUNDS, seeds=seeds),
        ("", *(f"moves at {level:.0%}" for level in LEVELS)),
        [
            ("shifu", *(f"{ours[level]:,}" for level in LEVELS)),
            ("always the freest", *(f"{plain[level]:,}" for level in LEVELS)),
        ],
        [Budget("no move for noise", f"{sum(ours.values())} moves", not any(ours.values()))],
    )


def _moves(devices: int, nodes: int, seeds: int, level: float) -> int:
    sites = (NoisySite(1000 + seed, nodes, devices, level) for seed in range(seeds))
    return sum(site.round() for site in sites for _ in range(ROUNDS))


def _plain_moves(devices: int, nodes: int, level: float) -> int:
    site = NoisySite(1000, nodes, devices, level)
    return sum(site.plain_round() for _ in range(ROUNDS))
