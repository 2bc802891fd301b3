"""Commands about CustomResourceDefinitions.

crd              prints those of a module
diff             compares two versions of them
sources          definitions of files, modules, operators and clusters
accepted         definitions as a server accepts them
stored_objects   what a cluster has stored, judged by new definitions
"""
