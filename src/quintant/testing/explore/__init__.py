"""Exploration: every crash, every lost answer and every stale view of a scenario, each in a run.

scenario ──undisturbed run──> trace: writes, calls, watch events
                                │
                                v
                   plan: one fault at every point
                                │ a run of its own for each
                                v
          run ──> checks: as if nothing had happened? ──> failures, shrunk and told

scenario        what a user writes              remote          models of what is outside
scenario_world  what a script has in its hands  process         a manager between two crashes
trace, fault    points, modes, tokens           injector        strikes at the chosen point
normalise       what does not count             quiescence      when nothing is left to do
"""
