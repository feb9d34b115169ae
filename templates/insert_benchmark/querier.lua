-- The role that queries as fast as it can: ranges of the secondary indexes, or lists of random ids.
--
-- MySQL gets text with the index that it shall use, of which only the digits change; PostgreSQL prepared statements.

local ffi = require("ffi")
local clock, memory, sender, rows = require("clock"), require("client_memory"), require("sender"), require("rows")
local digits = require("digits")
local C, random = ffi.C, math.random
local REFRESH = 100  -- point queries after which the largest id is asked for again
local ID_DIGITS = 12
local bound = {}  -- what statements point to: nothing else keeps it

-- index, its columns, how its first is compared, how many values that has
local SHAPES = {
   {"marketsegment", "productid,customerid,price", ">=", rows.PRODUCTS, 4},
   {"registersegment", "cashregisterid,customerid,price", ">", rows.CASHREGISTERS, 3},
   {"pdc", "price,dateandtime,customerid", ">=", rows.PRICES, 3},
}

local function prepared(connection, sql, count)
   local values = ffi.new("int64_t[?]", count)
   local binds = ffi.new("sql_bind[?]", count)
   for index = 0, count - 1 do
      binds[index].type, binds[index].buffer, binds[index].max_len = C.SQL_TYPE_BIGINT, values + index, 8
   end
   local statement = connection:prepare(sql)
   bound[#bound + 1] = {values, binds}
   assert(C.db_bind_param(statement, binds, count) == 0, "a query's parameters cannot be bound")
   return values, statement
end

local function ranged(connection, postgres, name)
   local limit, made = sysbench.opt.rows_per_query, {}
   for index = 1, sysbench.opt.indexes do
      local key, columns, compared, values, width = unpack(SHAPES[index])
      local first = columns:match("^%w+")
      local force = postgres and "" or (" FORCE INDEX (%s_%s)"):format(name, key)
      local sql = ("SELECT %s FROM %s%s WHERE %s %s "):format(columns, name, force, first, compared)
      local rest = (" ORDER BY %s LIMIT %d"):format(columns, limit)
      if postgres then
         local value, statement = prepared(connection, sql .. "?" .. rest, 1)
         made[index] = {sql = sql, send = function() C.db_execute(statement) end,
            choose = function() value[0] = random(0, values - 1) end}
      else
         local text = sql .. ("0"):rep(width) .. rest
         local buffer, length, at = ffi.new("char[?]", #text + 1, text), #text, #sql
         made[index] = {sql = sql, send = function() C.db_query(connection, buffer, length) end,
            choose = function() digits.few(buffer + at, random(0, values - 1), width) end}
      end
   end
   local shape
   local function what() return shape.sql end
   return function()
      shape = made[random(#made)]
      shape.choose()
      return shape.send, what
   end
end

local function pointed(connection, postgres, name, client)
   local count, asked = sysbench.opt.rows_per_query, 0
   local head = ("SELECT transactionid,productid,data FROM %s WHERE transactionid IN ("):format(name)
   local newest = ("SELECT max(transactionid) FROM %s"):format(name)
   local least, most, set, send
   if postgres then
      local values, statement = prepared(connection, head .. ("?,"):rep(count - 1) .. "?)", count)
      set = function(index, id) values[index] = id end
      send = function() C.db_execute(statement) end
   else
      local text = head .. (("0"):rep(ID_DIGITS) .. ","):rep(count - 1) .. ("0"):rep(ID_DIGITS) .. ")"
      local buffer, length = ffi.new("char[?]", #text + 1, text), #text
      set = function(index, id) digits.many(buffer + #head + index * (ID_DIGITS + 1), id, ID_DIGITS) end
      send = function() C.db_query(connection, buffer, length) end
   end
   local function what() return head end
   return function()
      if asked % REFRESH == 0 then
         most = tonumber(sender.rows(connection, newest)[1][1] or 0)
      end
      asked, least = asked + 1, client.oldest
      if least > most then least = most end
      for index = 0, count - 1 do
         set(index, least + math.floor(random() * (most - least + 1)))
      end
      return send, what
   end
end

return function(number, connection, postgres, block)
   local opt, client = sysbench.opt, block.clients[number]
   local role, name = client.query, ("pi%d"):format(number % opt.tables + 1)
   local made = opt.query == "range" and ranged or pointed
   local choose = made(connection, postgres, name, client)
   local seconds = opt.seconds
   -- All queries in one function: LuaJIT then compiles what is between two of them, too
   return function()
      role.began = clock.seconds()
      local ends = seconds > 0 and role.began + seconds or math.huge
      while block.run.failed == 0 and clock.seconds() < ends and (seconds > 0 or memory.inserting(block)) do
         local send, what = choose()
         sender.timed(connection, postgres, role, send, what)
         role.count = role.count + 1
      end
      role.ended = clock.seconds()
      return true
   end
end
