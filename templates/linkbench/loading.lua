-- The step that loads the graph: nodes, their links and the counts of these, then the secondary index of the links.
--
-- What an id gets follows from the seed and the id: it is the same on every server, however many clients load.

local ffi = require("ffi")
local clock, sender, shared = require("clock"), require("sender"), require("shared_memory")
local memory, schema, state, report, batch, data, random_stream, link_counts = require("client_memory"),
   require("schema"), require("graph_state"), require("client_report"), require("row_batch"), require("data_text"),
   require("random_stream"), require("link_counts")
local opt = sysbench.opt
local CHUNK = 1000  -- ids that a client loads before it takes others
local FIRST_TYPE, NODE_TYPE, VISIBLE = 123456789, 2048, 1
local EPOCH, SPAN = 1577836800, 2 ^ 32  -- seconds of the newest link; milliseconds before it of the oldest
local loading = {}
local block, connection, postgres, number

function loading.init()
   block = memory.make(opt.clients)
   block.ids, block.seed, block.link_types = opt.ids, opt.rand_seed, opt.link_types
   local own, to_postgres = sender.connect()
   schema.make(own, to_postgres)
   state.make(own)
   state.write(own, block, 1)
   own:disconnect()
end

function loading.thread_init(thread)
   block, number = memory.block(), thread
   connection, postgres = sender.connect()
end

local function text(at, size, kind, stream)
   at[0] = 39  -- '
   at = data.write(at + 1, size, kind, stream)
   at[0] = 39
   return at + 1
end

local function write_node(at, id, stream)
   at = batch.number(at, id)
   at = batch.number(batch.number(batch.number(at, NODE_TYPE), 1), EPOCH)
   return text(at, data.size(opt.node_size, data.NODE, stream), data.NODE, stream)
end

local function write_link(at, id, kind, target, stream)
   at = batch.number(batch.number(batch.number(batch.number(at, id), target), kind), VISIBLE)
   at = batch.number(batch.number(at, EPOCH * 1000 - stream.below(SPAN)), 0)
   return text(at, data.size(opt.link_size, data.LINK, stream), data.LINK, stream)
end

local function write_count(at, id, kind, count)
   at = batch.number(batch.number(batch.number(batch.number(at, id), kind), count), EPOCH * 1000)
   at[0] = 48  -- version
   return at + 1
end

local function batches(client)
   local function made(name, into)
      return batch.new(connection, postgres, client.load, into, function(rows) client[name] = client[name] + rows end)
   end
   return made("nodes", "INSERT INTO nodetable (id, type, version, time, data) VALUES "),
      made("links", "INSERT INTO linktable (id1, id2, link_type, visibility, time, version, data) VALUES "),
      made("counts", "INSERT INTO counttable (id, link_type, count, time, version) VALUES ")
end

local function load_rows(client)
   local nodes, links, counts = batches(client)
   local stream, of = random_stream(block.seed, 1), link_counts(block.ids, block.link_types)
   client.load.began = clock.seconds()
   for chunk = number * CHUNK, block.ids - 1, opt.clients * CHUNK do
      if block.run.failed ~= 0 then return end
      for id = chunk + 1, math.min(chunk + CHUNK, block.ids) do
         stream.begin(id)
         nodes.row(write_node, id, stream)
         local count = of.of(id)
         for kind = FIRST_TYPE, FIRST_TYPE + block.link_types - 1 do
            for ordinal = 0, count - 1 do
               links.row(write_link, id, kind, of.target(id, ordinal), stream)
            end
            counts.row(write_count, id, kind, count)
         end
      end
   end
   for _, each in ipairs({nodes, links, counts}) do each.flush() end
   client.load.ended = clock.seconds()
end

local INDEXED = '{"report": "indexed", "seconds": %.6f}\n'

function loading.event()
   local client = block.clients[number]
   load_rows(client)
   client.finished = 1
   if number == 0 and shared.all_have_finished(block, opt.clients) then
      local began = clock.seconds()
      schema.index(connection)
      report.write(INDEXED:format(clock.seconds() - began))
      schema.next_node(connection, postgres, block.ids)
   end
   return true
end

-- When all threads have ended.
function loading.done()
   if block.run.failed ~= 0 then return end
   local own = sender.connect()
   for client = 0, opt.clients - 1 do
      block.links = block.links + block.clients[client].links
   end
   state.write(own, block, 0)
   own:disconnect()
end

return loading
