"""The kubelet of the embedded cluster: runs pods as local processes.

It takes every pod of its node whose images are all in the image table. Reading order:

    container/  images: which image is which program; env, command: what a program is given
                lifecycle: what becomes of one container (pure); run: one run of its program
    pod/        plan: what a pod needs next (pure); status, conditions: what is reported (pure)
                sandbox: one pod on this machine; worker: its volumes and its termination
    process/    what touches the machine: processes, their figures, orphans
    probe/      when to ask, and how       volume/  projected files, tokens, mounts
    logs/       what containers print, for pods/log
    kubelet     the controller that ties it together
    node_status the Node object and its lease; local_node: all of it for `quintant up`
    process_nodes/  further nodes of this machine, each with a kubelet, which can fail
"""
