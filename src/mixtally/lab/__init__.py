"""Where whole collections are played on known data. May cheat: it sees values, noise and truth."""
