"""Detection: which contract messages speak, told from many of them, with the evidence."""
