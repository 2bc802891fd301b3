"""Keys that wait for a worker, and when each is due: client-go's util/workqueue."""
