-- Statements that are prepared once, and executed with what stands in the buffers that they are bound to.
--
-- With --db-ps-mode=disable sysbench writes the values into the text instead, and nothing here changes.

local ffi = require("ffi")
local C, TYPE = ffi.C, sysbench.sql.type
local statements = {}

local driver, connection
local bound = {}  -- what statements point to: nothing else keeps it

function statements.connect()
   driver = sysbench.sql.driver()
   connection = driver:connect()
   statements.connection, statements.server = connection, driver:name()
   return connection
end

function statements.disconnect()
   connection:disconnect()
end

-- A buffer of `count` integers, as many parameters.
function statements.numbers(count)
   return {buffer = ffi.new("int32_t[?]", count), count = count}
end

-- A parameter that is a text.
function statements.text(buffer, length)
   return {buffer = buffer, length = ffi.new("unsigned long[1]", length), count = 1}
end

local function bind(statement, parameters)
   local count, at = 0, 0
   for _, parameter in ipairs(parameters) do
      count = count + parameter.count
   end
   if count == 0 then return end
   local binds = ffi.new("sql_bind[?]", count)
   for _, parameter in ipairs(parameters) do
      for index = 0, parameter.count - 1 do
         local text = parameter.length
         binds[at].type = text and TYPE.VARCHAR or TYPE.INT
         binds[at].buffer = parameter.buffer + index
         binds[at].data_len = text or nil
         binds[at].max_len = text and text[0] or 4
         at = at + 1
      end
      bound[#bound + 1] = parameter
   end
   bound[#bound + 1] = binds
   assert(C.db_bind_param(statement, binds, count) == 0, "a statement's parameters cannot be bound")
end

function statements.one(sql, ...)
   local statement = connection:prepare(sql)
   bind(statement, {...})
   return statement
end

-- One for each table, `%d` in the text; all of them share the buffers.
function statements.each_table(sql, ...)
   local made = {}
   for number = 1, sysbench.opt.tables do
      made[number] = statements.one(string.format(sql, number), ...)
   end
   return made
end

-- What stands between the parentheses of a list of so many parameters.
function statements.marks(count)
   return string.rep("?", count, ", ")
end

function statements.execute(statement)
   if C.db_execute(statement) == nil and connection.error ~= 0 then
      connection:check_error(nil, "")  -- raises: the event begins again, or the run fails
   end
end

return statements
