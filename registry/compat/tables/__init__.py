"""Table contracts compared: what a new version of one breaks for those who go by the old one."""
