-- The least that a client of sysbench can do: the same statements, one after the other, over and over.
--
-- MySQL's are text, PostgreSQL's may be prepared, as those of the client that is compared. All of it is one event, for
-- sysbench takes time for each of its own. done.json has what it did, and its CPU seconds without its start.

local ffi = require("ffi")
local clock, processor_time = require("clock"), require("processor_time")
local C = ffi.C

sysbench.cmdline.options = {
   statements = {"file of the statements, one in a line; the last is counted", ""},
   prepared = {"whether they are prepared, with one number each", false},
   times = {"how often they are sent; 0: for so many seconds", 0},
   seconds = {"how long they are sent", 0},
}

local connection
local sends = {}

local function prepared(text)
   local made, value, binds = connection:prepare(text), ffi.new("int64_t[1]", 100), ffi.new("sql_bind[1]")
   if text:find("?", 1, true) then
      binds[0].type, binds[0].buffer, binds[0].max_len = sysbench.sql.type.BIGINT, value, 8
      assert(C.db_bind_param(made, binds, 1) == 0)
   end
   return function() return C.db_execute(made), value, binds end
end

local function plain(text)
   return function() C.db_query(connection, text, #text) end
end

function thread_init()
   connection = sysbench.sql.driver():connect()
   for text in io.lines(sysbench.opt.statements) do
      sends[#sends + 1] = (sysbench.opt.prepared and prepared or plain)(text)
   end
end

function event()
   local times, done = sysbench.opt.times, 0
   local ends = times == 0 and clock.seconds() + sysbench.opt.seconds or math.huge
   local user, system = processor_time()
   while (times == 0 and clock.seconds() < ends) or done < times do
      for index = 1, #sends do
         sends[index]()
         if connection.error ~= 0 then error(ffi.string(connection.sql_errmsg)) end
      end
      done = done + 1
   end
   local user_now, system_now = processor_time()
   local file = io.open("done.json", "w")
   file:write(('{"done": %.0f, "user": %.6f, "system": %.6f}'):format(done, user_now - user, system_now - system))
   file:close()
   return true
end

function thread_done()
   connection:disconnect()
end
