"""Parts that methods share: convolutions, augmentations, moving averages, schedules."""
