-- The ten operations: each chooses what it asks for, which is not measured, and gives what sends it.

local ffi = require("ffi")
local sender, data, transaction, statements = require("sender"), require("data_text"), require("transaction"),
   require("statements")
local C, floor = ffi.C, math.floor
local FIRST_TYPE, FOREVER = 123456789, 2 ^ 62
local REMEMBERED = 2048  -- long lists, of which a later request reads what follows
local EXISTING = {get = 0.5, update = 0.9, delete = 0.9, add = 0.05}  -- probabilities that the link is there
local REALTIME = 0
local scratch, now = ffi.new("char[?]", data.NODE.most), ffi.new("struct stepgrid_time")

local function milliseconds()
   C.clock_gettime(REALTIME, now)
   return tonumber(now.seconds) * 1000 + floor(tonumber(now.nanoseconds) / 1e6)
end

return function(connection, postgres, opt, block, client, ids, stream)
   local sql, own, affected = statements(postgres), transaction(connection), sender.result(connection)
   local types, remembered = block.link_types, {}
   local operations = {}

   local function kind() return FIRST_TYPE + stream.below(types) end

   local function filled(median, of)
      local size = data.size(median, of, stream)
      data.write(scratch, size, of, stream)
      return ffi.string(scratch, size)
   end

   -- The first column of the first row; nothing where there is none.
   local function first(statement)
      local result = own.run(statement)
      if tonumber(result.nrows) == 0 then return nil end
      return tonumber(result:fetch_row()[1])
   end

   -- Rows that it changed: of none, sysbench leaves the number that was there.
   local function change(statement)
      affected.nrows = 0
      own.run(statement)
      return tonumber(affected.nrows)
   end

   -- What sends it, and what says which statement that was: LuaJIT does not compile what makes a function.
   local text
   local function send()
      affected.nrows = 0
      C.db_query(connection, text, #text)
   end
   local function what() return text end
   local function one(statement)
      text = statement
      return send, what
   end

   local function in_transaction(act)
      return function() own.attempt(act) end, own.last
   end

   local function count_up(id, of, time) own.run(sql.count_up:format(id, of, time)) end

   local function overwrite(id, target, of, value, time, visible)
      own.run(sql.update_link:format(value, time, id, target, of))
      if visible == 0 then count_up(id, of, time) end
   end

   -- In a transaction of its own; a link that is there is overwritten.
   local function add(id, target, of, value, time)
      own.begin()
      if change(sql.insert_link:format(id, target, of, value, time)) == 1 then
         count_up(id, of, time)
      else
         overwrite(id, target, of, value, time, first(sql.find_link:format(id, target, of)))
      end
      own.commit()
   end

   local function update(id, target, of, value, time)
      own.begin()
      local visible = first(sql.find_link:format(id, target, of))
      if visible then
         overwrite(id, target, of, value, time, visible)
         own.commit()
      else
         own.rollback()
         add(id, target, of, value, time)
      end
   end

   local function written(act, existing)
      return function()
         local id, of = ids.link_write(), kind()
         local target, value, time = ids.target(id, existing), filled(opt.link_size, data.LINK), milliseconds()
         return in_transaction(function() act(id, target, of, value, time) end)
      end
   end

   operations.addlink = written(add, EXISTING.add)
   operations.updatelink = written(update, EXISTING.update)

   -- It is hidden, and no longer counted.
   function operations.deletelink()
      local id, of = ids.link_write(), kind()
      local target, time = ids.target(id, EXISTING.delete), milliseconds()
      return in_transaction(function()
         own.begin()
         if first(sql.find_link:format(id, target, of)) ~= 1 then return own.rollback() end
         own.run(sql.hide_link:format(id, target, of))
         if change(sql.count_down:format(time, id, of)) ~= 1 then
            error(("counttable has no row of id %d, link_type %d"):format(id, of), 0)
         end
         own.commit()
      end)
   end

   function operations.countlink()
      return one(sql.count:format(ids.link_read(), kind()))
   end

   function operations.getlink()
      local id, of, targets = ids.link_read(), kind(), {}
      for index = 1, ids.multiget() do
         targets[index] = ("%d"):format(ids.target(id, EXISTING.get))
      end
      return one(sql.links:format(id, of, table.concat(targets, ", ")))
   end

   -- A list that was cut off is remembered by its last row; where it has been read to its end, it is forgotten.
   local again, place, id, of
   local function remember(result)
      local rows, last = tonumber(result.nrows), nil
      if rows < opt.list_limit then
         if again then
            remembered[place] = remembered[#remembered]
            remembered[#remembered] = nil
         end
         return
      end
      for _ = 1, rows do last = result:fetch_row() end
      remembered[place] = {id, of, tonumber(last[6])}
   end

   local function send_list()
      local result = C.db_query(connection, text, #text)
      if connection.error == 0 and (again or tonumber(result.nrows) >= opt.list_limit) then remember(result) end
   end

   function operations.getlinklist()
      again = #remembered > 0 and stream.uniform() * 100 < opt.history_percent
      if again then
         place = stream.below(#remembered) + 1
         id, of = remembered[place][1], remembered[place][2]
         text = sql.list:format(id, of, remembered[place][3], opt.list_limit, 1)
         client.history = client.history + 1
      else
         place = #remembered < REMEMBERED and #remembered + 1 or stream.below(REMEMBERED) + 1
         id, of = ids.link_read(), kind()
         text = sql.list:format(id, of, FOREVER, opt.list_limit, 0)
      end
      return send_list, what
   end

   function operations.getnode()
      return one(sql.node:format(ids.node_read()))
   end

   function operations.addnode()
      return one(sql.add_node:format(floor(milliseconds() / 1000), filled(opt.node_size, data.NODE)))
   end

   function operations.updatenode()
      local id = ids.node_update()
      return one(sql.update_node:format(floor(milliseconds() / 1000), filled(opt.node_size, data.NODE), id))
   end

   function operations.deletenode()
      return one(sql.delete_node:format(ids.node_delete()))
   end

   -- What is to be counted when the server has taken it.
   local after = {
      addnode = function() client.nodes = client.nodes + 1 end,
      deletenode = function() client.deleted = client.deleted + tonumber(affected.nrows) end,
   }
   return operations, after
end
