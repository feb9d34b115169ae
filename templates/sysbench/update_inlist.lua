-- Ten random rows in one statement: a column that no index has.

local workload, list, statements, texts = require("workload"), require("list"), require("statements"), require("texts")
local fill, C = texts.fill, texts.C
local ROWS = 10
local c, update

function workload.prepare()
   c = texts.buffer(C)
   update = list("UPDATE sbtest%s SET c = ? WHERE id IN (%s)", ROWS, statements.text(c, texts.length(C)))
end

function event()
   fill(c, C)
   update()
end
