-- Statements of one transaction, which is made again from its beginning where the server says so.

local ffi = require("ffi")
local C = ffi.C

-- `run(sql)` gives the statement's result, or ends the attempt: the connection then has an error. What an attempt left
-- open is rolled back before the next.
return function(connection)
   local ABANDONED, open, text = {}, false, nil
   local made = {}

   function made.last() return text end

   function made.run(sql)
      text = sql
      local result = C.db_query(connection, sql, #sql)
      if connection.error ~= 0 then error(ABANDONED, 0) end
      return result
   end

   function made.begin()
      made.run("BEGIN")
      open = true
   end

   function made.commit()
      made.run("COMMIT")
      open = false
   end

   function made.rollback()
      made.run("ROLLBACK")
      open = false
   end

   function made.attempt(statements)
      local fine, problem = pcall(function()
         if open then made.rollback() end
         statements(made)
      end)
      if not fine and problem ~= ABANDONED then error(problem, 0) end
   end

   return made
end
