-- Ten rows by id, and a range in order.

require("transaction")("points", "order")
