"""Programs beside a step, one module each; they never decide whether a step has failed."""
