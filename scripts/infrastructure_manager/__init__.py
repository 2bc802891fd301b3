"""The real Infrastructure Manager (IM), as a test fixture: its REST API on loopback.

IM makes machines on clouds from a TOSCA template. It has a licence of its own (GPL-3), so it is
installed into an environment of its own and runs as a process: only `inside`, a script that runs in
that environment, imports it. Its Dummy cloud has no machines, and faults that a test may ask for;
its OpenStack connector is as it was published.

    with InfrastructureManager(folder) as manager:
        manager.set_faults(DummyFaults(launch_delay=5))
        ...                                    # talk to manager.url
        assert not manager.ledger.machines     # what somebody pays for

What a client has to know of IM 2.0.0, seen in tests/real/test_infrastructure_manager_real.py: a
DELETE before a launch has begun is answered with 200, and the machines are made all the same; one
during a launch with 409; and a deleted infrastructure whose state is read at the wrong moment comes
back without machines, as `unknown`, until it is deleted again.
"""

from infrastructure_manager.faults import DummyFaults, Ledger
from infrastructure_manager.server import InfrastructureManager

__all__ = ["DummyFaults", "InfrastructureManager", "Ledger"]
