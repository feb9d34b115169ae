-- A range of the primary key or of the secondary index, which alone answers the query or does not. It may begin at any
-- id, so that it may run past the last one.

local workload, ids, statements, columns =
   require("workload"), require("ids"), require("statements"), require("columns")
local random, execute = math.random, statements.execute
local tables, choose, ends, length, queries

function workload.prepare()
   local numbers, asked = statements.numbers(2), columns.asked()
   tables, choose, ends, length = sysbench.opt.tables, ids.chooser(), numbers.buffer, sysbench.opt.range_size
   local sql = string.format("SELECT %s FROM sbtest%%d WHERE %s BETWEEN ? AND ?", columns.answer(), asked)
   queries = statements.each_table(sql, numbers)
end

function event()
   local first = choose()
   ends[0], ends[1] = first, first + length
   execute(queries[random(tables)])
end
