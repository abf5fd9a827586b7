"""What others have published: formulas by name, as printed, none of them trusted with a promise."""
