-- The three operations that write links: each is one transaction, which counts the link, too.

local ffi = require("ffi")
local transaction = require("transaction")
local C = ffi.C

-- `link`: what it is about: id, target, kind, time, data, size.
return function(connection, sql, affected, link)
   local own = transaction(connection, sql, affected)
   local run, begin, commit, rollback = own.run, own.begin, own.commit, own.rollback
   local writes = {what = own.what}

   local function named(statement, first)
      statement.number(first, link.id)
      statement.number(first + 1, link.target)
      statement.number(first + 2, link.kind)
      return statement
   end

   local function count_up()
      local statement = sql.count_up
      statement.number(1, link.id)
      statement.number(2, link.kind)
      statement.number(3, link.time)
      return run(statement)
   end

   -- Whether the server took it; whether there is such a link; whether it is visible.
   local function find()
      if not run(named(sql.find_link, 1)) then return false end
      if affected.nrows == 0 then return true, false end
      return true, true, sql.find_link.integer(C.db_fetch_row(affected).values[0]) == 1
   end

   local function overwrite(visible)
      local statement = named(sql.update_link, 2)
      statement.number(1, link.time)
      statement.text(link.data, link.size)
      return run(statement) and (visible or count_up())
   end

   -- A link that is there is overwritten.
   function writes.add()
      local statement = named(sql.insert_link, 1)
      statement.number(4, link.time)
      statement.text(link.data, link.size)
      if not begin() or not run(statement) then return end
      if affected.nrows == 1 then
         if not count_up() then return end
      else
         local taken, _, visible = find()
         if not taken or not overwrite(visible) then return end
      end
      commit()
   end

   function writes.update()
      if not begin() then return end
      local taken, there, visible = find()
      if not taken then return end
      if not there then
         if rollback() then writes.add() end
      elseif overwrite(visible) then
         commit()
      end
   end

   local UNCOUNTED = "counttable has no row of id %d, link_type %d"

   -- It is hidden, and no longer counted.
   function writes.delete()
      if not begin() then return end
      local taken, _, visible = find()
      if not taken then return end
      if not visible then return rollback() end
      if not run(named(sql.hide_link, 1)) then return end
      local statement = sql.count_down
      statement.number(1, link.time)
      statement.number(2, link.id)
      statement.number(3, link.kind)
      if not run(statement) then return end
      if affected.nrows ~= 1 then error(UNCOUNTED:format(link.id, link.kind), 0) end
      commit()
   end

   return writes
end
