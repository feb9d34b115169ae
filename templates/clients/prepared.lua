-- Prepared statements of MySQL and PostgreSQL, with rows. In `sql` a number of 32 bits is `?`, a text of at most 255 bytes
-- `$`; `columns` are those of its rows, where the client reads one: "number", or the most bytes that a text has.
--
-- sysbench fetches no rows of a prepared statement of MySQL: the library that it is linked with does.

local ffi, bit = require("ffi"), require("bit")
local C, copy, bswap = ffi.C, ffi.copy, bit.bswap
local LONGEST = 255  -- bytes of a text that sysbench gives to PostgreSQL

ffi.cdef [[
typedef struct {  /* sysbench's db_stmt_t */
   void *connection, *query, *parameters;
   unsigned count;
   void *results, *result_count;
   char emulated;
   void *of_library;
} stepgrid_statement;
int mysql_stmt_fetch(void *statement);
char *PQgetvalue(const void *result, int row, int column);
int PQgetlength(const void *result, int row, int column);
]]

local integer = ffi.typeof("const int32_t *")

-- What sysbench is told of numbers and texts, and where they are. `sizes`: "number", or bytes.
local function bindings(sizes)
   local binds, numbers, texts = ffi.new("sql_bind[?]", #sizes), ffi.new("int32_t[?]", #sizes), {}
   for index, size in ipairs(sizes) do
      local target = binds[index - 1]
      if size == "number" then
         target.type, target.buffer, target.max_len = C.SQL_TYPE_INT, numbers + (index - 1), 4
      else
         local text = {at = ffi.new("char[?]", size + 1), length = ffi.new("unsigned long[1]", size)}
         target.type, target.buffer, target.max_len, target.data_len = C.SQL_TYPE_VARCHAR, text.at, size, text.length
         texts[index - 1] = text
      end
   end
   return {binds = binds, numbers = numbers, texts = texts}
end

local function sizes_of(sql)
   local sizes = {}
   for kind in sql:gmatch("[?$]") do sizes[#sizes + 1] = kind == "?" and "number" or LONGEST end
   return sizes
end

-- Rows as the library of MySQL copies them out.
local function mysql_rows(made, statement, columns)
   local results = bindings(columns)
   assert(C.db_bind_result(statement, results.binds, #columns) == 0, "a statement's columns cannot be bound")
   local own = ffi.cast("stepgrid_statement *", statement).of_library
   local numbers, texts = results.numbers, results.texts
   made.results = results  -- nothing else keeps it
   function made.fetch() return C.mysql_stmt_fetch(own) == 0 end
   function made.number(column) return numbers[column] end
   function made.text(column) return texts[column].at, tonumber(texts[column].length[0]) end
end

-- Rows where the library of PostgreSQL has them, in the binary format.
local function postgres_rows(made, affected)
   local row = -1
   function made.rewind() row = -1 end
   function made.fetch()
      row = row + 1
      return row < affected.nrows
   end
   function made.number(column) return bswap(ffi.cast(integer, C.PQgetvalue(affected.ptr, row, column))[0]) end
   function made.text(column)
      return C.PQgetvalue(affected.ptr, row, column), C.PQgetlength(affected.ptr, row, column)
   end
end

-- `numbers`: the parameters by their places, from 0 on; `set_text(place, at, length)` sets a text. After `send` and a
-- `fetch`, which is false behind the last row, `number(column)` and `text(column)` read it.
return function(connection, postgres, affected, sql, columns)
   local marked = sql:gsub("%$", "?")
   local statement = connection:prepare(marked)
   local parameters = bindings(sizes_of(sql))
   local made = {numbers = parameters.numbers, parameters = parameters}
   local texts = parameters.texts
   if marked:find("?", 1, true) then
      assert(C.db_bind_param(statement, parameters.binds, #sizes_of(sql)) == 0, "parameters cannot be bound")
   end
   if postgres then
      postgres_rows(made, affected)
   elseif columns then
      mysql_rows(made, statement, columns)
   else
      function made.fetch() return affected.nrows > 0 end
   end
   local rewind = made.rewind

   function made.set_text(place, at, length)
      local text = texts[place]
      copy(text.at, at, length)
      text.length[0] = length
   end
   function made.send()
      if rewind then rewind() end
      return C.db_execute(statement)
   end
   function made.what() return marked end
   return made
end
