-- The step that makes the secondary indexes: a few rows first, as published, then the indexes of one table by a thread.

local clock = require("clock")
local sender, schema, report = require("sender"), require("schema"), require("client_report")
local writing = require("writing")
local opt = sysbench.opt
local indexing = {done = writing.done}
local connection, postgres, number

function indexing.init()
   writing.init()
end

function indexing.thread_init(thread)
   writing.thread_init(thread)
   number = thread
   connection, postgres = sender.connect()
end

local INDEXED = '{"report": "indexed", "table": %d, "seconds": %.6f}\n'

function indexing.event()
   if not writing.event() then return end
   if number < opt.tables then
      local began = clock.seconds()
      schema.index(connection, postgres, number + 1)
      report.write(INDEXED:format(number + 1, clock.seconds() - began))
   end
   return true
end

return indexing
