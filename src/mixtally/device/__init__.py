"""Everything that a phone, or a program in another language, needs to take part in a round."""
