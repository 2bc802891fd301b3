"""The API server of a run: the embedded one, or any that a command starts, such as a real one.

world_server, embedded   what a run needs of a server; the one that is in this process
command                  a server of its own for every run: started, and ended with all it left
mirror                   what such a server holds, kept here by watching it
remote                   requests on to it, and commands in containers that nobody runs
open_remote              all of it: nodes, definitions, what is prepared, and a mirror
"""
