-- Ten rows by id, and a range in each of four ways.

require("transaction")("points", "simple", "sum", "order", "distinct")
