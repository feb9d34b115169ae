"""Looking at a plan while it runs, after it, or before: reads what the store has, starts and writes nothing."""
