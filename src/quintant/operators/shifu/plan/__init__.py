"""Decisions: on which node a deviceShifu runs, when it moves, and its device's status. Pure.

nearest, placement    to which node          node_phase    how a node is
reading               what is free, smoothed rescheduling  to a better node
evacuation            away from lost nodes   device        one device, from what was read
children              the objects of one     conclusion, conditions  its status and events
"""
