-- The step that sends requests: each client one after the other, as fast as it can, until the time is over.

local clock, sender = require("clock"), require("sender")
local memory, state, random_stream, request_ids, request_mix, operations = require("client_memory"),
   require("graph_state"), require("random_stream"), require("request_ids"), require("request_mix"),
   require("operations")
local opt = sysbench.opt
local requesting = {}
local block, event

local OTHER = "the graph has %.0f nodes: the step says %.0f"

function requesting.init()
   block = memory.make(opt.clients)
   local connection = sender.connect()
   local found = state.read(connection, "; load it again")
   if found.ids ~= opt.ids then error(OTHER:format(found.ids, opt.ids), 0) end
   for _, name in ipairs({"ids", "seed", "link_types", "links", "added", "deleted"}) do
      block[name] = found[name]
   end
   state.write(connection, block, 1)
   connection:disconnect()
end

-- Sends requests, and counts them, until the time is over.
local function requests(connection, postgres, client, stream)
   local made, after = operations(connection, postgres, opt, block, client, request_ids(opt, block, stream), stream)
   local choose, seconds = request_mix(opt.mix, stream), clock.seconds
   local function act(part)
      local send, what = made[part.name]()
      sender.operation(connection, postgres, client, part.index, send, what)
      if after[part.name] then after[part.name]() end
   end
   return function()
      local ends = seconds() + opt.seconds
      while seconds() < ends and block.run.failed == 0 do
         act(choose())
      end
      return true
   end
end

function requesting.thread_init(thread)
   block = memory.block()
   local connection, postgres = sender.connect()
   local stream = random_stream(opt.rand_seed, 2)
   stream.begin(thread)
   event = requests(connection, postgres, block.clients[thread], stream)
end

function requesting.event()
   return event()
end

-- When all threads have ended.
function requesting.done()
   if block.run.failed ~= 0 then return end
   for number = 0, opt.clients - 1 do
      local client = block.clients[number]
      block.added, block.deleted = block.added + client.nodes, block.deleted + client.deleted
   end
   local connection = sender.connect()
   state.write(connection, block, 0)
   connection:disconnect()
end

return requesting
