"""The native part: messages taken apart and values checked in C, where a library was compiled for this machine."""
