-- A row by its id.

local workload, ids, statements = require("workload"), require("ids"), require("statements")
local random, execute = math.random, statements.execute
local tables, choose, id, queries

function workload.prepare()
   local number = statements.numbers(1)
   tables, choose, id = sysbench.opt.tables, ids.chooser(), number.buffer
   queries = statements.each_table("SELECT c FROM sbtest%d WHERE id = ?", number)
end

function event()
   id[0] = choose()
   execute(queries[random(tables)])
end
