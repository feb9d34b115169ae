-- Ten rows by id, and the sum of a range.

require("transaction")("points", "sum")
