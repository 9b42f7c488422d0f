"""What a person sees of the server in a browser: contracts, subjects, and two versions side by side. No scripts."""
