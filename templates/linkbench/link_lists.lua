-- Lists of the newest links of a node. A list that was cut off is remembered by its last row: a later request reads what
-- follows, and where it has been read to its end, it is forgotten.

local ffi = require("ffi")
local C = ffi.C
local REMEMBERED, TIME = 2048, 5  -- lists; column of a row, from 0 on

-- `ask` chooses a list and says which; `send` asks for it.
return function(connection, sql, affected, limit, history_percent, stream)
   local remembered, lists = {}, {}
   local again, place, id, kind, statement = false, 1, 0, 0, sql.list

   local function last_time()
      local row
      for _ = 1, tonumber(affected.nrows) do row = C.db_fetch_row(affected) end
      return statement.integer(row.values[TIME])
   end

   local function remember()
      if affected.nrows >= limit then
         remembered[place] = {id, kind, last_time()}
      elseif again then
         remembered[place] = remembered[#remembered]
         remembered[#remembered] = nil
      end
   end

   function lists.send()
      affected.nrows = 0
      statement.send()
      if connection.error == 0 and (again or affected.nrows >= limit) then remember() end
   end

   function lists.what() return statement.what() end

   -- True where it continues an earlier one; `choose` gives the id and the type of another.
   function lists.ask(choose)
      local count = #remembered
      again = count > 0 and stream.uniform() * 100 < history_percent
      if again then
         place, statement = stream.below(count) + 1, sql.continued_list
         id, kind = remembered[place][1], remembered[place][2]
         statement.number(3, remembered[place][3])
      else
         place, statement = count < REMEMBERED and count + 1 or stream.below(REMEMBERED) + 1, sql.list
         id, kind = choose()
      end
      statement.number(1, id)
      statement.number(2, kind)
      return again
   end

   return lists
end
