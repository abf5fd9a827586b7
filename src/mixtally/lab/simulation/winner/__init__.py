"""Winner of a vote: a section of a study that compares local ballots with a shuffled release."""
