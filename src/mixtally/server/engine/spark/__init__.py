"""Processing of batches on Spark. This file imports nothing, because executors load it."""
