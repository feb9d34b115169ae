-- Counts a range of rows, without a transaction around it.

local workload, ids, statements = require("workload"), require("ids"), require("statements")
local random, execute = math.random, statements.execute
local tables, choose, ends, rest, queries

function workload.prepare()
   local numbers = statements.numbers(2)
   tables, choose, ends, rest = sysbench.opt.tables, ids.chooser(), numbers.buffer, sysbench.opt.range_size - 1
   queries = statements.each_table("SELECT COUNT(c) FROM sbtest%d WHERE id BETWEEN ? AND ?", numbers)
end

function event()
   local first = choose()
   ends[0], ends[1] = first, first + rest
   execute(queries[random(tables)])
end
