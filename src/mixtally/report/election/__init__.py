"""What the public sees of a vote: two versions side by side, with their promises."""
