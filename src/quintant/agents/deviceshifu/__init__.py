"""The deviceShifu: speaks a device's protocol on one side, and HTTP on the other.

    options     what it is told                      config/     the ConfigMap of instructions
    device      what the EdgeDevice says             drivers/    one module per protocol
    facade      the HTTP that callers see            telemetry/  readings, and where they go
    health      when a device has failed             device_api  the API server, or a file
    report      the device's status, on change       shifu       all of it together

One process serves one device. It always starts, whatever its device does, and connects again for
ever. What it reads is data: neither a ConfigMap nor a reply is ever run. The token of its service
account goes to the API server alone.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run a deviceShifu with these arguments."""
    from quintant.agents.deviceshifu.options import parse
    from quintant.agents.deviceshifu.program import serve
    from quintant.agents.multiplex.program import run

    options = parse(arguments)
    run(lambda stopped: serve(options, stopped))
