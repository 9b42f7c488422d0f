"""Statistics: what the columns of validated rows contribute to the statistics of a topic, whole columns at a time."""
