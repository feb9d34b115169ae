-- Makes the tables, fills them, and makes the secondary indexes: a thread takes one table after the other. An event is a
-- statement of many rows. What a table holds follows from the seed and its number.

local workload, report, clock = require("workload"), require("report"), require("clock")
local tables, statements, ids, texts = require("tables"), require("statements"), require("ids"), require("texts")
local ffi = require("ffi")
local ROW, INTO = "(%d,%d,'%s','%s')", "INSERT INTO sbtest%d (id, k, c, pad) VALUES "

local c, pad = texts.buffer(texts.C), texts.buffer(texts.PAD)
local thread, number, done, choose, began

report.of_load()

function workload.prepare(own)
   thread, number, done = own, own + 1, nil
end

local function begin()
   ids.begin(number)
   choose, done = ids.chooser(), 0
   tables.make(number)
   began = clock.seconds()
end

local function rows(first, last)
   local made = {}
   for id = first, last do
      texts.fill(c, texts.C)
      texts.fill(pad, texts.PAD)
      made[#made + 1] = ROW:format(id, choose(), ffi.string(c), ffi.string(pad))
   end
   return table.concat(made, ",")
end

local function finish()
   local inserted = clock.seconds()
   tables.index(number)
   report.loaded(thread, done, inserted - began, clock.seconds() - inserted)
   number, done = number + sysbench.opt.threads, nil
end

-- True ends the thread.
function event()
   if number > sysbench.opt.tables then return true end
   if done == nil then begin() end
   local last = math.min(done + sysbench.opt.batch, sysbench.opt.table_size)
   statements.connection:query(INTO:format(number) .. rows(done + 1, last))
   done = last
   if done == sysbench.opt.table_size then finish() end
end
