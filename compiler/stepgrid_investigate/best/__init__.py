"""Statistics of the best of many arms, without a store: rankings, races, and which points to try next."""
