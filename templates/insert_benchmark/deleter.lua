-- The role that deletes the oldest rows of a table, as many as its client has inserted.

local ffi = require("ffi")
local clock, memory, shared, sender = require("clock"), require("client_memory"), require("shared_memory"), require("sender")
local C = ffi.C
local RESYNC = 1000  -- batches after which the smallest id is asked for again
local TRIES = 10     -- that find no row, when nothing is inserted any more

local MYSQL = "DELETE FROM pi%d WHERE transactionid >= %.0f ORDER BY transactionid LIMIT %.0f"
local POSTGRES = "DELETE FROM pi%d WHERE transactionid IN "
   .. "(SELECT transactionid FROM pi%d WHERE transactionid >= %.0f ORDER BY transactionid LIMIT %.0f)"

return function(number, connection, postgres, block)
   local client, table_number = block.clients[number], number % sysbench.opt.tables + 1
   local role, result = client.remove, sender.result(connection)
   local batches, missed, sql = 0, 0, nil
   local smallest = ("SELECT min(transactionid) FROM pi%d"):format(table_number)

   local function text(count)
      if postgres then return POSTGRES:format(table_number, table_number, client.oldest, count) end
      return MYSQL:format(table_number, client.oldest, count)
   end
   local function send()
      result.nrows = 0  -- sysbench leaves what stands there where a statement changes no row
      C.db_query(connection, sql, #sql)
   end
   local function what() return sql end

   local function resync()
      local began = clock.seconds()
      local found = sender.rows(connection, smallest)[1]
      client.oldest = found and tonumber(found[1]) or client.oldest
      client.resyncs, client.resync_seconds = client.resyncs + 1, client.resync_seconds + clock.seconds() - began
   end

   return function()
      if role.began == 0 then role.began = clock.seconds() end
      if client.inserted == 0 and not memory.wait(client.filled, block) then return true end
      local last = client.inserted ~= 0
      local behind = client.insert.count - role.count  -- what an earlier batch did not find is made up for
      if behind > 0 then
         sql = text(math.min(behind, sysbench.opt.rows_per_commit))
         sender.timed(connection, postgres, role, send, what)
         local gone = tonumber(result.nrows)
         batches = batches + 1
         client.oldest, client.deleted, role.count = client.oldest + gone, client.deleted + gone, role.count + gone
         missed = gone == 0 and missed + 1 or 0
         if gone == 0 or batches % RESYNC == 0 then resync() end
      end
      shared.post(client.free)
      role.ended = clock.seconds()
      return last and (behind <= 0 or missed == TRIES)
   end
end
