-- Always the same rows, from the middle of a table.

local workload, statements = require("workload"), require("statements")
local random, execute = math.random, statements.execute
local tables, queries

function workload.prepare()
   local count, middle = sysbench.opt.range_size, math.floor(sysbench.opt.table_size / 2)
   local numbers = statements.numbers(count)
   for index = 1, count do
      numbers.buffer[index - 1] = middle + index
   end
   tables = sysbench.opt.tables
   queries = statements.each_table("SELECT c FROM sbtest%d WHERE id IN (" .. statements.marks(count) .. ")", numbers)
end

function event()
   execute(queries[random(tables)])
end
