-- What read_only does, and what write_only does.

require("transaction")("points", "simple", "sum", "order", "distinct", "writes")
