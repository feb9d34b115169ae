-- Statements of one transaction, which is made again from its beginning where the server says so.
--
-- Each function says whether the server took what it sent; where not, the connection has the error, and what is open is
-- rolled back before the next attempt.

return function(connection, sql, affected)
   local open, last = false, sql.begin
   local made = {}

   function made.what() return last.what() end

   -- Of a statement that changes no row, sysbench leaves the number that was there.
   local function run(statement)
      last, affected.nrows = statement, 0
      statement.send()
      return connection.error == 0
   end
   made.run = run

   local function ended(statement)
      if run(statement) then open = false end
      return connection.error == 0
   end

   function made.commit() return ended(sql.commit) end
   function made.rollback() return ended(sql.rollback) end

   function made.begin()
      if open and not ended(sql.rollback) then return false end
      open = run(sql.begin)
      return open
   end

   return made
end
