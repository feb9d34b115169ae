-- The least that a client of sysbench can do: one INSERT of constant text, or one query, over and over.
--
-- MySQL's query is text, as in the insert benchmark; PostgreSQL's is prepared. An event is `times` of them, for sysbench
-- takes time for each of its own.

local ffi = require("ffi")
local C = ffi.C

sysbench.cmdline.options = {
   text = {"what is sent, or prepared", ""},
   prepared = {"whether it is prepared, with one number", false},
   times = {"how often an event sends it", 100},
}

local connection, send

local function statement(text)
   local made, value, binds = connection:prepare(text), ffi.new("int64_t[1]", 100), ffi.new("sql_bind[1]")
   binds[0].type, binds[0].buffer, binds[0].max_len = sysbench.sql.type.BIGINT, value, 8
   assert(C.db_bind_param(made, binds, 1) == 0)
   return function() return C.db_execute(made), value end
end

function thread_init()
   connection = sysbench.sql.driver():connect()
   local text = io.open(sysbench.opt.text):read("*a")
   local length = #text
   send = sysbench.opt.prepared and statement(text) or function() C.db_query(connection, text, length) end
end

function event()
   for _ = 1, sysbench.opt.times do
      send()
      if connection.error ~= 0 then error(ffi.string(connection.sql_errmsg)) end
   end
end

function thread_done()
   connection:disconnect()
end
