-- A statement of which numbers and a text change: text that is written over for MySQL, a prepared one for PostgreSQL.
--
-- In `sql` a number is `?10`, with its digits, and the text `'?text'`, of `room` bytes at most. `number(index, value)` and
-- `text(at, size)` set them, `send` sends it, `what` says what was sent, and `integer` reads a column of its rows.

local ffi, bit = require("ffi"), require("bit")
local digits = require("digits").many
local C, copy, band = ffi.C, ffi.copy, bit.band
local LONGEST = 255  -- bytes of a text that sysbench gives to a prepared statement of PostgreSQL

-- A text with zeros in place of its numbers, and where they are.
local function places(sql, room, ats, widths)
   local starts, count = {}, 0
   local text = sql:gsub("()%?(%d+)", function(_, width) return ("0"):rep(tonumber(width)) end)
   local shift = 0
   for start, width in sql:gmatch("()%?(%d+)") do
      count = count + 1
      starts[count] = {start - 1 + shift, tonumber(width)}
      shift = shift + tonumber(width) - #width - 1
   end
   local buffer = ffi.new("char[?]", #text + room + 1, text)
   for _, each in ipairs(starts) do
      ats[#ats + 1], widths[#widths + 1] = buffer + each[1], each[2]
   end
   return buffer, #text
end

local function written(connection, sql, room)
   local ats, widths, made = {}, {}, {}
   local first, rest = sql:match("^(.-)%?text(.*)$")
   local tail, tail_size = nil, 0
   local buffer, head_size = places(first or sql, room + #(rest or "") * 10, ats, widths)
   if first then tail, tail_size = places(rest, 0, ats, widths) end
   local size = head_size

   function made.number(index, value) digits(ats[index], value, widths[index]) end
   function made.text(at, length)
      copy(buffer + head_size, at, length)
      copy(buffer + head_size + length, tail, tail_size)
      size = head_size + length + tail_size
      buffer[size] = 0  -- PostgreSQL's driver takes no length
   end
   function made.send() return C.db_query(connection, buffer, size) end
   function made.what() return ffi.string(buffer, size) end

   -- Rows are text.
   function made.integer(value)
      local found = 0
      for index = 0, value.len - 1 do found = found * 10 + value.ptr[index] - 48 end
      return found
   end
   return made
end

local function bind(target, kind, buffer, size, length)
   target.type, target.buffer, target.max_len, target.data_len = kind, buffer, size, length
end

local function prepared(connection, sql, room)
   local kinds, made = {}, {}
   for kind in sql:gmatch("%?(%w+)") do kinds[#kinds + 1] = kind end
   local marked = sql:gsub("'%?text'", "?"):gsub("%?%d+", "?")
   local statement = connection:prepare(marked)
   local numbers, binds = ffi.new("int64_t[?]", #kinds), ffi.new("sql_bind[?]", #kinds)
   local buffer, length, used = ffi.new("char[?]", room + 1), ffi.new("unsigned long[1]", room), 0
   for index, kind in ipairs(kinds) do
      if kind == "text" then
         bind(binds[index - 1], C.SQL_TYPE_VARCHAR, buffer, room, length)
      else
         bind(binds[index - 1], C.SQL_TYPE_BIGINT, numbers + used, 8, nil)
         used = used + 1
      end
   end
   assert(C.db_bind_param(statement, binds, #kinds) == 0, "a statement's parameters cannot be bound")
   made.bound = {binds, length}  -- nothing else keeps them

   function made.number(index, value) numbers[index - 1] = value end
   function made.text(at, size)
      copy(buffer, at, size)
      buffer[size], length[0] = 0, size
   end
   function made.send() return C.db_execute(statement) end
   function made.what() return marked end

   -- sysbench asks for rows in the binary format.
   function made.integer(value)
      local found = 0
      for index = 0, value.len - 1 do found = found * 256 + band(value.ptr[index], 255) end
      return found
   end
   return made
end

return function(connection, postgres, sql, room)
   room = room or 0
   local made = postgres and sql:find("?", 1, true) and room <= LONGEST and prepared or written
   return made(connection, sql, room)
end
