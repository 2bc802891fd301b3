"""Exploration: every crash, every lost answer and every stale view of a scenario, each in a run.

scenario ──undisturbed run──> trace: writes, calls, watch events
                                │
                                v
                   plan: one fault at every point
                                │ a run of its own for each, over the cores
                                v
          run ──> checks: as if nothing had happened? ──> failures, shrunk and told

scenario, remote   what a user writes
injection/         points, faults and their tokens; the processes that they strike
simulation/        one run: its world, when it is quiet, and what of it is compared
explorer, checks   every run of a scenario, and what must hold of each
campaign           scenarios over cores and budgets
"""
