-- One row, by its id: a column of the secondary index.

local workload, ids, statements = require("workload"), require("ids"), require("statements")
local random, execute = math.random, statements.execute
local tables, choose, id, updates

function workload.prepare()
   local number = statements.numbers(1)
   tables, choose, id = sysbench.opt.tables, ids.chooser(), number.buffer
   updates = statements.each_table("UPDATE sbtest%d SET k = k + 1 WHERE id = ?", number)
end

function event()
   id[0] = choose()
   execute(updates[random(tables)])
end
