-- One row, by its id; one that is gone already counts as another query, not as a write.

local workload, ids, statements = require("workload"), require("ids"), require("statements")
local random, execute = math.random, statements.execute
local tables, choose, id, deletes

function workload.prepare()
   local number = statements.numbers(1)
   tables, choose, id = sysbench.opt.tables, ids.chooser(), number.buffer
   deletes = statements.each_table("DELETE FROM sbtest%d WHERE id = ?", number)
end

function event()
   id[0] = choose()
   execute(deletes[random(tables)])
end
