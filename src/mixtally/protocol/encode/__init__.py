"""From a person's value to their record: the number of its bin, or the bits it sets."""
