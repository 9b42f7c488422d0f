"""Table contracts compared: what a new version of one breaks for users of the old one."""
