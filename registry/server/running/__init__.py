"""The running server: the application, its limits, its log, and its listening socket."""
