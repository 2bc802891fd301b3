"""StatefulJob: a job on an interval, on a volume made from the newest VolumeSnapshot."""
