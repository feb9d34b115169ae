-- What every workload has: its options, its report, a connection for each thread, and random numbers of its own.
--
-- A workload gives prepare(), which makes its statements, and event().

os.remove("connection")  -- it holds a password, and sysbench has read it by now
require("options")
require("report")

local ids = require("ids")
local statements = require("statements")
local workload = {}

function thread_init(thread)
   ids.begin(thread)
   statements.connect()
   workload.prepare(thread)
end

function thread_done()
   statements.disconnect()
end

return workload
