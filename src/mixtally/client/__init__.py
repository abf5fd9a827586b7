"""What a device keeps: its memoized answers in a sealed file."""
