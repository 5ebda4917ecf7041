"""What a step will take of memory, disk and time, told before anything runs."""

from fdgcl.planning.plan import Plan, check_disk, check_memory

__all__ = ["Plan", "check_disk", "check_memory"]
