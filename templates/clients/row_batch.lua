-- One INSERT of many rows, written into a buffer: no Lua string for each row.

local ffi = require("ffi")
local sender = require("sender")
local C, copy, floor = ffi.C, ffi.copy, math.floor
local ROWS, ROOM, LARGEST = 1024, 1048576, 2101248  -- of a statement: rows; bytes after which it is sent; and at most

local digits = ffi.new("char[24]")
local batch = {}

-- A whole number, and a comma.
function batch.number(at, value)
   local count = 0
   repeat
      local rest = floor(value / 10)
      digits[count] = 48 + value - rest * 10
      value, count = rest, count + 1
   until value == 0
   for index = count - 1, 0, -1 do
      at[0] = digits[index]
      at = at + 1
   end
   at[0] = 44
   return at + 1
end

-- `row(write, …)`: `write` gets the place after a parenthesis, and gives the one behind what it wrote; `counted(rows)`
-- is told what the server has taken. `flush` sends what is left.
function batch.new(connection, postgres, role, into, counted)
   local buffer, at, rows, length = ffi.new("char[?]", LARGEST), #into, 0, 0
   copy(buffer, into, #into)
   local function send() C.db_query(connection, buffer, length) end
   local function what() return ffi.string(buffer, length) end
   local made = {}

   function made.flush()
      if rows == 0 then return end
      length = at - 1
      buffer[length] = 0  -- in place of the last comma: PostgreSQL's driver takes no length
      sender.timed(connection, postgres, role, send, what)
      role.count = role.count + rows
      counted(rows)
      at, rows = #into, 0
   end

   function made.row(write, ...)
      buffer[at] = 40  -- (
      at = write(buffer + at + 1, ...) - buffer
      buffer[at], buffer[at + 1] = 41, 44  -- ),
      at, rows = at + 2, rows + 1
      if rows == ROWS or at > ROOM then made.flush() end
   end

   return made
end

return batch
