"""Programs that tests and benchmarks run beside themselves, and what those use.

running    a program, for as long as it is needed
usage      its CPU and memory, as the system counts them
"""
