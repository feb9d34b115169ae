-- The role that inserts: one INSERT of many rows after the other, and a place in the queue of what is to be deleted.

local ffi = require("ffi")
local clock, shared, sender, rows, rate = require("clock"), require("shared_memory"), require("sender"), require("rows"),
   require("rate")
local C, min = ffi.C, math.min

return function(number, connection, postgres, block)
   local opt = sysbench.opt
   local client = block.clients[number]
   local role, deletes, left = client.insert, opt.deletes, opt.rows
   local write = rows.writer(block.seed, number, block.data_least, block.data_most)
   local most = opt.insert_rate > 0 and min(opt.rows_per_commit, opt.insert_rate) or opt.rows_per_commit
   local buffer, fill = rows.statement(number % opt.tables + 1, write, most, block.data_most)
   local began, ends, allowed, rest, length
   local function send() C.db_query(connection, buffer, length) end
   local function what() return ffi.string(buffer, length) end

   local function finish()
      role.ended = clock.seconds()
      client.inserted = 1
      if deletes then shared.post(client.filled) end
      return true
   end

   return function()
      if began == nil then
         began = clock.seconds()
         role.began, ends = began, opt.seconds > 0 and began + opt.seconds or math.huge
         allowed, rest = rate(opt.insert_rate, began, block)
      end
      local count = allowed(opt.seconds > 0 and most or min(most, left))
      if count == 0 or clock.seconds() >= ends then return finish() end
      if deletes and not shared.wait(client.free, block) then return finish() end
      length = fill(client.ordinal, count)
      sender.timed(connection, postgres, role, send, what)
      client.ordinal, role.count, left = client.ordinal + count, role.count + count, left - count
      if deletes then shared.post(client.filled) end
      if opt.seconds == 0 and left == 0 then
         rest()
         return finish()
      end
   end
end
