"""What a phone, or a program in another language, has to do to take part in a round."""
