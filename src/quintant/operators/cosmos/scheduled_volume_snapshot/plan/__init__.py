"""What a ScheduledVolumeSnapshot does next: pure functions of what was observed.

step        the states, and one step from each     candidate   whose volume is copied
actions     what a step does                       conclusion  what is reported of it
"""
