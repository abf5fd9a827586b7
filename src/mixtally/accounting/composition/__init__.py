"""Privacy loss distributions and their composition."""
