-- LinkBench: a social graph in three tables, loaded, then asked by a mix of ten operations, and checked.

os.remove("connection")  -- it holds a password, and sysbench has read it by now
require("options")

local ACTIONS = {load = "loading", request = "requesting", check = "checking"}
local memory = require("graph_memory")
local step

-- Options can be asked for when the script has been read.
local function chosen()
   step = step or require(assert(ACTIONS[sysbench.opt.action], "there is no action " .. sysbench.opt.action))
   return step
end

function init() chosen().init() end
function thread_init(thread) chosen().thread_init(thread) end
function done() chosen().done() end

-- A thread that fails ends the others.
function event()
   local fine, ended = pcall(step.event)
   if not fine then
      memory.block().failed = 1
      error(ended, 0)
   end
   return ended
end

require("client_report")
