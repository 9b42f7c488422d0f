"""The native part: messages scanned and values checked in C, if a library was compiled for this machine."""
