"""What happens to one answer, as pure functions: encode, randomize, mix, tally, estimate."""
