"""A site of shifu at rest, for whoever measures the operator: tests and benchmarks.

world      devices with everything that is composed for them, and nodes, on an embedded server
objects    the same of any number of devices, as text
server     shows them to whoever asks, and takes no writes (`python -m shifu_site`)
running    that server as a process
noise      nodes whose memory is measured with noise
"""
