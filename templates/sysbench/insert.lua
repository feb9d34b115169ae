-- One row; the server gives it its id.

local workload, row, statements = require("workload"), require("row"), require("statements")
local random, execute = math.random, statements.execute
local tables, fill, inserts

function workload.prepare()
   local values
   values, fill = row.new()
   tables = sysbench.opt.tables
   inserts = statements.each_table("INSERT INTO sbtest%d (k, c, pad) VALUES (?, ?, ?)", unpack(values))
end

function event()
   fill()
   execute(inserts[random(tables)])
end
