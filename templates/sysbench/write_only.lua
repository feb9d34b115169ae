-- A column with an index, one without, and a row that is deleted and inserted again.

require("transaction")("writes")
