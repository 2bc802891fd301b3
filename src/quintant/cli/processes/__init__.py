"""Several processes of one machine, each a member of a sharded manager: `--processes`.

    count             how many; as many as there are processors
    child_settings    what a child is given by its parent
    child             one life of a child: started, asked, ended
    restarts          pure: when one that ended starts again
    health            pure: what the parent's probes say of a child
    merged_metrics    pure: the series of all as one exposition
    process_metrics   the parent's own series
    parent            all of it: ports, children, burials

A parent works on no key. Children are started like any program, with the command line of their
parent, and end with it, however it ends.
"""
