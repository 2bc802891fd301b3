"""Decisions: where a deviceShifu runs, when it moves, and what is said of a device. Pure.

nearest, placement    where to               node_phase    how a node is
reading               what is free, smoothed rescheduling  a better place
evacuation            away from lost nodes   device        one device, from what was read
conditions, status    what is said           explanation   why it is there
"""
