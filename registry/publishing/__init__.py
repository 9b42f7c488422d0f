"""Publishing: what a registry holds as files in git, and the ways between a folder and a server."""
