"""Batches on Spark. Executors import this room, so its door is empty."""
