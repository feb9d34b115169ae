-- Ten rows by id, and a range.

require("transaction")("points", "simple")
