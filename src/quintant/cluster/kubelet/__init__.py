"""The node agent of the embedded cluster: runs pods as local processes, as a kubelet would.

It takes every pod of the node `local` whose images are all in its table (`images`). Reading order:

    images    which image is which program            life      what becomes of one container
    plan      what a pod needs next (pure)            status    what the world is told (pure)
    env, volumes, paths    what a program is given    effects   what touches the machine
    sandbox   one pod on this machine                 agent     the controller that ties it together

`logs` and `usage` are what others read: pods/log and metrics.k8s.io.
"""
