-- The insert benchmark: what a step does, and which thread has which role of which client.

os.remove("connection")  -- it holds a password, and sysbench has read it by now
require("options")

local ACTIONS = {load = "writing", index = "indexing", insert = "writing", query = "writing", check = "checking"}
local shared = require("shared_memory")
local step

-- Options can be asked for when the script has been read.
local function chosen()
   step = step or require(assert(ACTIONS[sysbench.opt.action], "there is no action " .. sysbench.opt.action))
   return step
end

function init() chosen().init() end
function thread_init(thread) chosen().thread_init(thread) end
function done() chosen().done() end

-- A thread that fails ends the others: those that wait for it in particular.
function event()
   local fine, ended = pcall(step.event)
   if not fine then
      shared.block().failed = 1
      error(ended, 0)
   end
   return ended
end

require("client_report")
