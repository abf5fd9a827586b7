"""One protocol a file: its integers, its messages, its fakes, its debiasing. No privacy numbers."""
