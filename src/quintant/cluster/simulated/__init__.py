"""Nodes and pods that are not there: for a cluster of hundreds of machines on one.

    fleet, faults   what a node has and says, and how it fails     nodes   nodes at work, and leases
    stages, pod_status  what happens to a pod, and what it says    pods    pods at work
    completion, shell_command  when a pod has done its work
    usage, meter    made-up figures for `kubectl top`              views   what it sees of objects
    component       all of it, ready to run beside the API server

Whatever is simulated says so: nodes by a label and a role, pods by an annotation, by the reason in
their status, and by the ids of their containers.
"""
