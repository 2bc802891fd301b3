"""Simulated devices, one program each: what they answer is made up, and says so.

    http_device    the common part of those that speak HTTP
    thermometer, robot_arm, agv, plate_reader, plc, hello_world, camera     over HTTP
    socket_echo    over a plain socket      opcua, modbus    servers of these protocols

Ports, paths and texts are those of upstream's demo devices, so that its samples work unchanged.
"""
