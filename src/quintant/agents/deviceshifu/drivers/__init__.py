"""One module per protocol, each loaded only where a device speaks it.

driver    what all of them are       choose     the driver of a device
address   where a device is          forward    HTTP: requests to the device, replies back
"""
