"""Who may ask the server, and what each may do: users, passwords, authentication, rights."""
