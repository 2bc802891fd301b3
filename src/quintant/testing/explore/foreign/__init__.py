"""Exploration of a manager that is a program of anybody's, in any language, in real time.

scenario_file, steps     what users do, from YAML; default_scenario makes it from a sample
program, keeper          one life of a process, and that nothing of it outlives us
pace                     its clock, many times as fast as the machine's
gateway                  HTTPS before the embedded server: every request and event passes here
points, generated_names  points by what they are, and names that differ from run to run
quiet, process_state     when nothing is left to be done, without virtual time
states                   what is compared of two worlds, and what a world does differently by itself
world, run, record       the cluster that a run begins with; the run; what it did
campaign, report         undisturbed runs, all others, and what came of them
"""
