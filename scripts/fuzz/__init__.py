"""Send the same random requests to the embedded server and to a real one, and compare answers.

A sequence of steps follows from its seed alone. Both servers' answers and watch events are made
comparable (`fuzz.normalize` lists what is ignored, and why), and the first difference is shrunk to
the fewest steps that still show it. The steps of some seeds are kept with what the real server
made of them (`fuzz.kept`), so that the embedded one can be checked where there is no real one.

    subjects → making → player, once per server → normal → diffs → shrink
"""
