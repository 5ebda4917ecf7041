"""What work will take: memory, disk and time, told before anything runs."""
