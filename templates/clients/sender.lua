-- Statements as they are sent: timed, counted, and sent again where the server says that they are to be.
--
-- What sysbench's drivers take for worth another try is more: a duplicate key of PostgreSQL is not.

local ffi = require("ffi")
local clock = require("clock")
local C, seconds = ffi.C, clock.seconds

-- deadlock, lock wait timeout, and what MariaDB calls a record that changed since it was read: a serialization failure
local MYSQL = {[1213] = true, [1205] = true, [1020] = true}
local POSTGRES = {["40001"] = true, ["40P01"] = true}
local PER_OCTAVE, LAST = 32, 1023
local sender, driver = {}, nil

local function again(connection, postgres)
   if postgres then
      return connection.sql_state ~= nil and POSTGRES[ffi.string(connection.sql_state)]
   end
   return MYSQL[connection.sql_errno]
end

local function fail(connection, sql)
   local said = connection.sql_errmsg ~= nil and ffi.string(connection.sql_errmsg) or "no message"
   local state = connection.sql_state ~= nil and ffi.string(connection.sql_state) or "unknown"
   error(string.format("error %d (%s): %s: %s", connection.sql_errno, state, said:gsub("%s+$", ""), sql:sub(1, 80)), 0)
end

-- And whether it is one to PostgreSQL.
function sender.connect()
   driver = driver or sysbench.sql.driver()
   return driver:connect(), driver:name() == "pgsql"
end

-- Rows of text, of a statement that is not measured.
function sender.rows(connection, sql)
   local result, found = C.db_query(connection, sql, #sql), {}
   if connection.error ~= 0 then fail(connection, sql) end
   if result == nil then return found end
   for index = 1, tonumber(result.nrows) do
      found[index] = result:fetch_row()
   end
   C.db_free_results(result)
   return found
end

-- What a connection's statements affect is where its results are.
function sender.result(connection)
   local result = C.db_query(connection, "SELECT 1", 8)
   if connection.error ~= 0 then fail(connection, "SELECT 1") end
   C.db_free_results(result)
   return result
end

local log, floor, scale = math.log, math.floor, PER_OCTAVE / math.log(2)

local function count(role, took)
   if took > role.longest then role.longest = took end
   if took > role.longest_lately then role.longest_lately = took end
   local microseconds = took * 1e6
   local bucket = microseconds > 1 and floor(log(microseconds) * scale) or 0
   if bucket > LAST then bucket = LAST end
   role.buckets[bucket] = role.buckets[bucket] + 1
end

-- Runs `send` until the server takes it; `what` names it where it does not.
function sender.timed(connection, postgres, role, send, what)
   local began = seconds()
   while true do
      send()
      if connection.error == 0 then break end
      if not again(connection, postgres) then fail(connection, what()) end
      role.retries = role.retries + 1
   end
   count(role, seconds() - began)
end

-- The same of one operation of a client that has several.
function sender.operation(connection, postgres, client, index, send, what)
   local role, began = client.operations[index], seconds()
   if role.began == 0 then role.began = began end
   sender.timed(connection, postgres, role, send, what)
   role.ended = seconds()
   client.seconds[index] = client.seconds[index] + role.ended - began
   role.count = role.count + 1
end

return sender
