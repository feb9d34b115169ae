"""Tables of a plan as values, and points made of their runs: the only reader of Parquet here judges nothing."""
