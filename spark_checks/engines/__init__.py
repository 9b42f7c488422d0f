"""Execution engines: the work of a run, in this process or in Spark tasks, until it is done or stopped."""
