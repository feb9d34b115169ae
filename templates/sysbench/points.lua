-- A list of random values of the primary key or of the secondary index, which alone answers the query or does not.

local workload, list, columns = require("workload"), require("list"), require("columns")

function workload.prepare()
   local sql = string.format("SELECT %s FROM sbtest%%s WHERE %s IN (%%s)", columns.answer(), columns.asked())
   event = list(sql, sysbench.opt.range_size)
end

function event() end  -- sysbench looks for it before a thread begins
