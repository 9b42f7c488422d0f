"""Group: records that are alike in everything that a verdict depends on, and the verdict of each group."""
