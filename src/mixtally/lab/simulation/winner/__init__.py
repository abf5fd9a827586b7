"""Who won a vote: a section of a study, from ballots without any trust and from the release."""
