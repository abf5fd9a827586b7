"""Privacy accounting: delta of a mechanism, composed over messages, parts and collections."""
