"""A vote counted in two ways: both results side by side, with their promises and the truth."""
