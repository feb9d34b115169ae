-- Steps that insert rows, with or without deletes and queries beside: a thread for each role of each client.

local clock = require("clock")
local memory, sender, schema, progress, report =
   require("client_memory"), require("sender"), require("schema"), require("progress"), require("client_report")
local opt = sysbench.opt
local writing = {}
local block, connection, event

local function table_of(client)
   return client % opt.tables + 1
end

local UNFINISHED = "pi%d: the step that wrote it last did not end; load it again"

local function started(connection)
   local known = {}
   for _, row in ipairs(progress.read(connection)) do
      if row.writing ~= 0 then error(UNFINISHED:format(row.table_number), 0) end
      known[row.client .. ":" .. row.table_number] = row
      block.seed, block.data_least, block.data_most = row.seed, row.data_length_min, row.data_length_max
   end
   return known
end

local function row_of(number, writing_now)
   local client = block.clients[number]
   return {client = number, table_number = table_of(number), seed = block.seed, inserted = client.ordinal,
      deleted = client.deleted, data_length_min = block.data_least,
      data_length_max = block.data_most, writing = writing_now}
end

-- Before the threads begin, in a connection of its own.
function writing.init()
   block = memory.make(opt.clients)
   block.seed = opt.rand_seed
   block.data_least, block.data_most = opt.data_length_min, opt.data_length_max
   local connection, postgres = sender.connect()
   if opt.action == "load" then
      progress.make(connection)
      for number = 1, math.min(opt.tables, opt.clients) do
         schema.make(connection, postgres, number)
      end
   end
   local known = started(connection)
   for number = 0, opt.clients - 1 do
      local row, client = known[number .. ":" .. table_of(number)], block.clients[number]
      if row then client.ordinal, client.deleted = row.inserted, row.deleted end
      progress.write(connection, row_of(number, 1))
   end
   connection:disconnect()
end

-- The first thing that a client asks for, timed: what rows cost that are deleted and not gone.
local function probe(number, connection)
   local began = clock.seconds()
   local row = sender.rows(connection, ("SELECT min(transactionid) FROM pi%d"):format(table_of(number)))[1]
   local took = clock.seconds() - began
   block.clients[number].oldest = row and tonumber(row[1]) or 1
   report.write(('{"report": "probe", "client": %d, "seconds": %.6f}\n'):format(number, took))
end

local MODULES = {insert = "inserter", delete = "deleter", query = "querier"}

local function roles()
   local found = {}
   for name in opt.roles:gmatch("%a+") do
      found[#found + 1] = name
   end
   return found
end

-- Each client's first role, then each one's second.
function writing.thread_init(thread)
   block = memory.block()
   local number, index = thread % opt.clients, math.floor(thread / opt.clients) + 1
   local role, postgres = roles()[index], nil
   math.randomseed(opt.rand_seed * 65536 + thread)
   connection, postgres = sender.connect()
   for statement in opt.session:gmatch("[^;]+") do
      sender.rows(connection, statement)
   end
   if index == 1 then probe(number, connection) end
   event = require(MODULES[role])(number, connection, postgres, block)
end

function writing.event()
   return event()
end

-- When all threads have ended.
function writing.done()
   if block.run.failed ~= 0 then return end
   local connection = sender.connect()
   for number = 0, opt.clients - 1 do
      progress.write(connection, row_of(number, 0))
   end
   connection:disconnect()
end

return writing
