"""ScheduledVolumeSnapshot: copies of a node's volume on time, with its pod away meanwhile."""
