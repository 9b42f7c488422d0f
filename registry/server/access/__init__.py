"""Who may use the server, and what for: users, passwords, authentication, rights."""
