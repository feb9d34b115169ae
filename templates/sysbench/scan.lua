-- All rows of a table, of which none is an answer. A thread has a table of its own, where there are enough.

local workload, statements = require("workload"), require("statements")
local execute = statements.execute
local scan

function workload.prepare(thread)
   local number = thread % sysbench.opt.tables + 1
   scan = statements.one(string.format("SELECT * FROM sbtest%d WHERE LENGTH(c) < 0", number))
end

function event()
   execute(scan)
end
