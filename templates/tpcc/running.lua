-- The step that runs transactions: each client one after the other until the time is over, as fast as it can or with the
-- times of a person who keys them in and thinks.

local C = require("ffi").C
local clock, sender = require("clock"), require("sender")
local memory, random_stream, request_mix, transactions = require("client_memory"), require("random_stream"),
   require("request_mix"), require("transactions")
local opt = sysbench.opt
local DISTRICTS, LONGEST = 10, 10  -- the second: means that a person thinks at most
local KEYING = {new_order = 18, payment = 3, order_status = 2, delivery = 2, stock_level = 2}
local THINKING = {new_order = 12, payment = 12, order_status = 10, delivery = 5, stock_level = 5}  -- means
local NAP = 0.1  -- seconds
local running = {}
local block, event

local OTHER = "the database has %s %s: the step says %.0f"
local FACTS = {
   {"warehouses", "SELECT count(*) FROM warehouse"},
   {"items", "SELECT max(i_id) FROM item"},
   {"customers", "SELECT count(*) FROM customer WHERE c_w_id = 1 AND c_d_id = 1"},
}

function running.init()
   block = memory.make(opt.clients)
   local connection = sender.connect()
   for _, fact in ipairs(FACTS) do
      local count = sender.rows(connection, fact[2])[1][1]
      if tonumber(count) ~= opt[fact[1]] then error(OTHER:format(count or "no", fact[1], opt[fact[1]]), 0) end
   end
   connection:disconnect()
end

-- In naps, so that it ends when the step does.
local function sleep(seconds, ends)
   local until_then = math.min(clock.seconds() + seconds, ends)
   while clock.seconds() < until_then and block.run.failed == 0 do
      C.usleep(1e6 * math.max(0, math.min(NAP, until_then - clock.seconds())))
   end
end

local function think(stream, mean)
   return math.min(-math.log(1 - stream.uniform()) * mean, LONGEST * mean)
end

local function loop(connection, postgres, thread)
   local client, stream = block.clients[thread], random_stream(opt.rand_seed, 2)
   stream.begin(thread)
   local home = {
      warehouse = thread % opt.warehouses + 1,
      district = math.floor(thread / opt.warehouses) % DISTRICTS + 1,
   }
   local operations = transactions(connection, postgres, opt, client, home, stream)
   local choose, seconds, thinks = request_mix(opt.mix, stream), clock.seconds, opt.think
   return function()
      local ends = seconds() + opt.seconds
      while seconds() < ends and block.run.failed == 0 do
         local part = choose()
         local send, what = operations[part.name]()
         if thinks then sleep(KEYING[part.name], ends) end
         if thinks and seconds() >= ends then break end
         sender.operation(connection, postgres, client, part.index, send, what)
         if thinks then sleep(think(stream, THINKING[part.name]), ends) end
      end
      return true
   end
end

function running.thread_init(thread)
   block = memory.block()
   local connection, postgres = sender.connect()
   event = loop(connection, postgres, thread)
end

function running.event() return event() end
function running.done() end

return running
