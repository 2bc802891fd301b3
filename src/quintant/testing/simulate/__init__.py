"""A whole cluster with all operators, for days of virtual time, in minutes: `quintant simulate`.

plan         what happens when: pure, from a seed           systems/   each operator and its users
simulation   one simulation, from its start to its end      remotes/   what is outside, modelled
world        server, controllers, nodes, operators          program    an operator's replicas
disturbances what happens to any cluster                    transport  a process's way to the server
assertions   what must hold always, at rest, and sometime   timeline   what happened, and its digest
"""
