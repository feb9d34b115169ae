"""The best of many arms, and rounds of a race for it, by their figures alone."""
