"""The generated files under deploy/: kustomizations and charts, from the same objects.

A file is a pure function of the code, so that a reviewer sees in a diff what a change of a type or
a watch means for a cluster. Nothing under deploy/ is edited by hand.

    deploy/NAME                 everything: both of what follows
    deploy/NAME/crds            definitions, and the namespaces of their objects; these stay
    deploy/NAME/operator        the program; deleting it deletes no object of a user
    deploy/NAME/namespaced      the same for one namespace, with roles there
    deploy/charts/quintant-crds definitions, for Helm
    deploy/charts/quintant      programs, for Helm
    deploy/argocd, deploy/flux  how tools of GitOps judge objects
"""
