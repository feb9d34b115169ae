"""The best of many arms, and the rounds of a race for it: pure statistics, without a store."""
