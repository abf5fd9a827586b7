"""From a person's value to the number of its bin."""
