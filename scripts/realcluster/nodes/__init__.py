"""Nodes: machines made of namespaces, with the files and cgroups that their programs need."""
