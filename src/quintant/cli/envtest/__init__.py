"""`quintant envtest`, and the two programs that it puts into a folder for test kits to start.

envtest                             the command
assets                              the folder
kube_apiserver, apiserver_process   one program
etcd, etcd_process                  the other; store_location is between them
program                             how both begin and end
flag_set ─► apiserver_flags, feature_flags, etcd_flags   command lines, pure; known_words
"""
