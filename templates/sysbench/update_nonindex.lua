-- One row, by its id: a column that no index has.

local workload, ids, statements, texts = require("workload"), require("ids"), require("statements"), require("texts")
local random, execute, fill, C = math.random, statements.execute, texts.fill, texts.C
local tables, choose, id, c, updates

function workload.prepare()
   local number = statements.numbers(1)
   tables, choose, id, c = sysbench.opt.tables, ids.chooser(), number.buffer, texts.buffer(C)
   local text = statements.text(c, texts.length(C))
   updates = statements.each_table("UPDATE sbtest%d SET c = ? WHERE id = ?", text, number)
end

function event()
   fill(c, C)
   id[0] = choose()
   execute(updates[random(tables)])
end
