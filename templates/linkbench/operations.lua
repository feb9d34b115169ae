-- The ten operations: each chooses what it asks for, which is not measured, and gives what sends it and what says which
-- statement that was. Nothing here makes a function or a string while it is measured: LuaJIT compiles all of it.

local ffi = require("ffi")
local sender, data, statements, link_writes, link_lists = require("sender"), require("data_text"), require("statements"),
   require("link_writes"), require("link_lists")
local C, floor = ffi.C, math.floor
local FIRST_TYPE = 123456789
local EXISTING = {get = 0.5, update = 0.9, delete = 0.9, add = 0.05}  -- probabilities that the link is there
local REALTIME = 0
local now = ffi.new("struct stepgrid_time")

local function milliseconds()
   C.clock_gettime(REALTIME, now)
   return tonumber(now.seconds) * 1000 + floor(tonumber(now.nanoseconds) / 1e6)
end

local function seconds()
   return floor(milliseconds() / 1000)
end

return function(connection, postgres, opt, block, client, ids, stream)
   local sql, affected = statements(connection, postgres, opt.list_limit), sender.result(connection)
   local types, scratch = block.link_types, ffi.new("char[?]", data.NODE.most + data.SPARE)
   local link = {id = 0, target = 0, kind = 0, time = 0, data = scratch, size = 0}
   local writes = link_writes(connection, sql, affected, link)
   local lists = link_lists(connection, sql, affected, opt.list_limit, opt.history_percent, stream)
   local operations = {}

   local function kind() return FIRST_TYPE + stream.below(types) end

   -- How many bytes of the scratch it has.
   local function filled(median, of)
      local size = data.size(median, of, stream)
      data.write(scratch, size, of, stream)
      return size
   end

   local function written(act, existing, has_data)
      return function()
         link.id, link.kind = ids.link_write(), kind()
         link.target = ids.target(link.id, existing)
         if has_data then link.size = filled(opt.link_size, data.LINK) end
         link.time = milliseconds()
         return act, writes.what
      end
   end

   operations.addlink = written(writes.add, EXISTING.add, true)
   operations.updatelink = written(writes.update, EXISTING.update, true)
   operations.deletelink = written(writes.delete, EXISTING.delete, false)

   -- A single statement.
   local chosen
   local function send()
      affected.nrows = 0
      chosen.send()
   end
   local function what() return chosen.what() end

   function operations.countlink()
      chosen = sql.count
      chosen.number(1, ids.link_read())
      chosen.number(2, kind())
      return send, what
   end

   function operations.getlink()
      local id, of, count = ids.link_read(), kind(), ids.multiget()
      chosen = sql.links(count)
      chosen.number(1, id)
      chosen.number(2, of)
      for index = 1, count do
         chosen.number(2 + index, ids.target(id, EXISTING.get))
      end
      return send, what
   end

   local function list() return ids.link_read(), kind() end

   function operations.getlinklist()
      if lists.ask(list) then client.history = client.history + 1 end
      return lists.send, lists.what
   end

   function operations.getnode()
      chosen = sql.node
      chosen.number(1, ids.node_read())
      return send, what
   end

   function operations.addnode()
      chosen = sql.add_node
      chosen.number(1, seconds())
      chosen.text(scratch, filled(opt.node_size, data.NODE))
      return send, what
   end

   function operations.updatenode()
      chosen = sql.update_node
      chosen.number(1, seconds())
      chosen.number(2, ids.node_update())
      chosen.text(scratch, filled(opt.node_size, data.NODE))
      return send, what
   end

   function operations.deletenode()
      chosen = sql.delete_node
      chosen.number(1, ids.node_delete())
      return send, what
   end

   -- What is to be counted when the server has taken it.
   local after = {
      addnode = function() client.nodes = client.nodes + 1 end,
      deletenode = function() client.deleted = client.deleted + tonumber(affected.nrows) end,
   }
   return operations, after
end
