-- The step that loads the tables, and then makes the secondary indexes. The rows of a warehouse follow from the seed and
-- its number, however many clients load; its own row comes last, so that the row says that the others are there.

local clock, sender, shared = require("clock"), require("sender"), require("shared_memory")
local memory, schema, report, batch, random_stream, permutation, draws, text = require("client_memory"),
   require("schema"), require("client_report"), require("row_batch"), require("random_stream"), require("permutation"),
   require("draws"), require("row_text")
local floor = math.floor
local opt = sysbench.opt
local number, money, letters, constant = text.number, text.money, text.letters, text.constant
local between = draws.between
local DISTRICTS, NAMED, TEN = 10, 1000, 1000  -- the last: cents
local MOMENT, NULL = "'2020-01-01 00:00:00'", "NULL"
local loading = {}
local block, connection, postgres, own

function loading.init()
   block = memory.make(opt.clients)
   local main, to_postgres = sender.connect()
   schema.make(main, to_postgres)
   main:disconnect()
end

function loading.thread_init(thread)
   block, own = memory.block(), thread
   connection, postgres = sender.connect()
end

-- Each of these writes a row, and gives the place behind it, without the last comma.

local function write_item(at, id, stream)
   at = number(number(at, id), between(stream, 1, 10000))
   at = money(letters(at, 14, 24, stream), between(stream, 100, 10000))
   return text.data(at, 26, 50, stream) - 1
end

local function write_warehouse(at, id, stream)
   at = text.address(letters(number(at, id), 6, 10, stream), stream)
   return money(text.fraction(at, stream.below(2001)), DISTRICTS * opt.customers * TEN) - 1
end

local function write_stock(at, warehouse, item, stream)
   at = number(number(number(at, item), warehouse), between(stream, 10, 100))
   for _ = 1, DISTRICTS do at = letters(at, 24, 24, stream) end
   return text.data(constant(at, "0,0,0"), 26, 50, stream) - 1
end

local function write_district(at, warehouse, id, stream)
   at = text.address(letters(number(number(at, id), warehouse), 6, 10, stream), stream)
   at = money(text.fraction(at, stream.below(2001)), opt.customers * TEN)
   return number(at, opt.customers + 1) - 1
end

local function write_customer(at, warehouse, district, id, stream)
   at = number(number(number(at, id), district), warehouse)
   at = constant(letters(at, 8, 16, stream), "'OE'")
   local name = id <= NAMED and id - 1 or draws.name(stream, "load", opt.customers)
   at = text.address(text.quoted(at, draws.names[name].text), stream)
   at = constant(at, ("'%08d%08d'"):format(stream.below(1e8), stream.below(1e8)))
   at = constant(constant(at, MOMENT), stream.below(10) == 0 and "'BC'" or "'GC'")
   at = text.fraction(constant(at, "50000.00"), stream.below(5001))
   return letters(constant(at, "-10.00,10.00,1,0"), 300, 500, stream) - 1
end

local function write_history(at, warehouse, district, customer, stream)
   at = number(number(number(number(number(at, customer), district), warehouse), district), warehouse)
   return letters(constant(constant(at, MOMENT), "10.00"), 12, 24, stream) - 1
end

local function write_order(at, warehouse, district, id, customer, carrier, lines)
   at = constant(number(number(number(number(at, id), district), warehouse), customer), MOMENT)
   at = carrier and number(at, carrier) or constant(at, NULL)
   return constant(number(at, lines), "1") - 1
end

local function write_new_order(at, warehouse, district, id)
   return number(number(number(at, id), district), warehouse) - 1
end

local function write_line(at, warehouse, district, order, line, delivered, stream)
   at = number(number(number(number(at, order), district), warehouse), line)
   at = number(number(at, between(stream, 1, opt.items)), warehouse)
   at = constant(constant(at, delivered and MOMENT or NULL), "5")
   return letters(money(at, delivered and 0 or between(stream, 1, 999999)), 24, 24, stream) - 1
end

local tables

-- Three of ten orders, the newest, are not yet delivered.
local function load_orders(warehouse, district, stream)
   local customer = permutation(opt.customers, (stream.below(999) + 1) / 1000).id
   local delivered = opt.customers - floor(opt.customers * 3 / 10)
   for id = 1, opt.customers do
      local lines, is_delivered = between(stream, 5, 15), id <= delivered
      tables.orders.row(write_order, warehouse, district, id, customer(id - 1), is_delivered and between(stream, 1, 10),
         lines)
      if not is_delivered then tables.new_order.row(write_new_order, warehouse, district, id) end
      for line = 1, lines do
         tables.order_line.row(write_line, warehouse, district, id, line, is_delivered, stream)
      end
   end
end

local function load_district(warehouse, district, stream)
   tables.district.row(write_district, warehouse, district, stream)
   for id = 1, opt.customers do
      tables.customer.row(write_customer, warehouse, district, id, stream)
      tables.history.row(write_history, warehouse, district, id, stream)
   end
   load_orders(warehouse, district, stream)
end

local function load_warehouse(id, stream)
   stream.begin(id)
   for item = 1, opt.items do tables.stock.row(write_stock, id, item, stream) end
   for district = 1, DISTRICTS do
      if block.run.failed ~= 0 then return end
      load_district(id, district, stream)
   end
   for _, each in pairs(tables) do each.flush() end
   tables.warehouse.row(write_warehouse, id, stream)
   tables.warehouse.flush()
end

local function load_rows(client)
   local stream = random_stream(opt.rand_seed, 1)
   tables = {}
   for name in pairs(schema.TABLES) do
      tables[name] = batch.new(connection, postgres, client.load, ("INSERT INTO %s VALUES "):format(name), function() end)
   end
   client.load.began = clock.seconds()
   if own == 0 then
      for id = 1, opt.items do tables.item.row(write_item, id, stream) end
   end
   for id = own + 1, opt.warehouses, opt.clients do
      if block.run.failed ~= 0 then return end
      load_warehouse(id, stream)
   end
   tables.item.flush()
   client.load.ended = clock.seconds()
end

local INDEXED = '{"report": "indexed", "seconds": %.6f}\n'

function loading.event()
   load_rows(block.clients[own])
   block.clients[own].finished = 1
   if own == 0 and shared.all_have_finished(block, opt.clients) then
      local began = clock.seconds()
      schema.index(connection)
      report.write(INDEXED:format(clock.seconds() - began))
   end
   return true
end

function loading.done() end

return loading
