-- The role that inserts: one INSERT of many rows after the other, and a place in the queue of what is to be deleted.

local ffi = require("ffi")
local clock, memory, shared, sender, rows, rate = require("clock"), require("client_memory"), require("shared_memory"),
   require("sender"), require("rows"), require("rate")
local C, min = ffi.C, math.min
local COMMA = 44

return function(number, connection, postgres, block)
   local opt = sysbench.opt
   local client = block.clients[number]
   local role, deletes, left = client.insert, opt.deletes, opt.rows
   local write = rows.writer(block.seed, number, block.data_least, block.data_most)
   local most = opt.insert_rate > 0 and min(opt.rows_per_commit, opt.insert_rate) or opt.rows_per_commit
   local buffer, start = rows.statement(number % opt.tables + 1, most, block.data_most)
   local length
   local function send() C.db_query(connection, buffer, length) end
   local function what() return ffi.string(buffer, length) end

   local function finish()
      role.ended = clock.seconds()
      client.inserted = 1
      if deletes then shared.post(client.filled) end
      return true
   end

   -- All batches and rows in one function: LuaJIT then compiles all of it, and nothing is interpreted between batches
   return function()
      role.began = clock.seconds()
      local ends = opt.seconds > 0 and role.began + opt.seconds or math.huge
      local allowed, rest = rate(opt.insert_rate, role.began, ends, block)
      while block.run.failed == 0 do
         local count = allowed(opt.seconds > 0 and most or min(most, left))
         if count == 0 or clock.seconds() >= ends then break end
         if deletes and not memory.wait(client.free, block) then break end
         local at, first = start, client.ordinal
         for ordinal = first, first + count - 1 do
            at = write(at, ordinal)
            at[0] = COMMA
            at = at + 1
         end
         at[-1] = 0  -- in place of the last comma: PostgreSQL's driver takes no length
         length = at - buffer - 1
         sender.timed(connection, postgres, role, send, what)
         client.ordinal, role.count, left = first + count, role.count + count, left - count
         if deletes then shared.post(client.filled) end
         if opt.seconds == 0 and left == 0 then
            rest()
            break
         end
      end
      return finish()
   end
end
