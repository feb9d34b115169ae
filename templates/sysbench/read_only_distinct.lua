-- Ten rows by id, and the different values of a range in order.

require("transaction")("points", "distinct")
