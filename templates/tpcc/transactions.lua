-- The five transactions. Each draws what it is about, which is not measured, and gives what sends it and what says which
-- statement was the last. Nothing here makes a string or a function while it is measured: LuaJIT compiles all of it.

local ffi = require("ffi")
local draws, statements, transaction = require("draws"), require("statements"), require("transaction")
local digits = require("digits").few
local copy, floor = ffi.copy, math.floor
local between = draws.between
local DISTRICTS, MOST_LINES = 10, 15
local MISSING = "no row: "

-- `client`: what it counts; `home`: its warehouse, and its district for stock_level.
return function(connection, postgres, opt, client, home, stream)
   local sql, affected = statements(connection, postgres)
   local own = transaction(connection, sql, affected)
   local run, begin, commit, rollback = own.run, own.begin, own.commit, own.rollback
   local warehouse, district, customer, name = home.warehouse, 0, 0, 0
   local operations = {}

   -- Sets the first numbers of a statement: of a district, and of something in it.
   local function at(statement, place, w, d, id)
      local numbers = statement.numbers
      numbers[place], numbers[place + 1], numbers[place + 2] = w, d, id
      return statement
   end

   local function at_district(statement, place, w, d)
      local numbers = statement.numbers
      numbers[place], numbers[place + 1] = w, d
      return statement
   end

   -- False where the server did not take it; a row must be there.
   local function read(statement)
      if not run(statement) then return false end
      if not statement.fetch() then error(MISSING .. statement.what(), 0) end
      return true
   end

   -- Another warehouse; the same one where there is no other.
   local function remote()
      if opt.warehouses == 1 then return warehouse end
      local other = between(stream, 1, opt.warehouses - 1)
      return other < warehouse and other or other + 1
   end

   -- new_order

   local items, supplies, quantities = ffi.new("int32_t[?]", MOST_LINES + 1), ffi.new("int32_t[?]", MOST_LINES + 1),
      ffi.new("int32_t[?]", MOST_LINES + 1)
   local lines, all_local = 0, 1

   -- By warehouse and item, so that orders seldom wait for each other in a circle.
   local function insert_line(count, item, supply)
      local place = count
      while place > 0 and (supplies[place - 1] > supply or supplies[place - 1] == supply and items[place - 1] > item) do
         items[place], supplies[place] = items[place - 1], supplies[place - 1]
         place = place - 1
      end
      items[place], supplies[place] = item, supply
   end

   -- One of a hundred orders asks for an item that there is not, at last, and is rolled back.
   local function draw_order()
      district, customer = between(stream, 1, DISTRICTS), draws.customer(stream, opt.customers)
      lines, all_local = between(stream, 5, MOST_LINES), 1
      for line = 0, lines - 1 do
         local supply = stream.below(100) == 0 and remote() or warehouse
         if supply ~= warehouse then all_local = 0 end
         insert_line(line, draws.item(stream, opt.items), supply)
         quantities[line] = between(stream, 1, 10)
      end
      if stream.below(100) == 0 then items[lines - 1] = opt.items + 1 end
   end

   local function add_line(order, line)
      local item, supply, quantity = items[line], supplies[line], quantities[line]
      local price = sql.item.number(0)
      local stock = sql.stock[district]
      if not read(at_district(stock, 0, supply, item)) then return false end
      local rest = stock.number(0) - quantity
      local taken, added = sql.take_stock, sql.add_line
      taken.numbers[0] = rest >= 10 and rest or rest + 91
      taken.numbers[1], taken.numbers[2] = quantity, supply == warehouse and 0 or 1
      added.set_text(8, stock.text(1))
      at_district(taken, 3, supply, item)
      local numbers = at(added, 0, order, district, warehouse).numbers
      numbers[3], numbers[4], numbers[5], numbers[6], numbers[7] = line + 1, item, supply, quantity, price * quantity
      return run(taken) and run(added)
   end

   local function add_order(order)
      local numbers = at(sql.add_order, 0, order, district, warehouse).numbers
      numbers[3], numbers[4], numbers[5] = customer, lines, all_local
      return run(sql.add_order) and run(at(sql.add_new_order, 0, order, district, warehouse))
   end

   -- The district first: a reader of a snapshot would have to begin again where another client took a number meanwhile.
   local function send_order()
      sql.warehouse_tax.numbers[0] = warehouse
      if not begin() or not read(at_district(sql.next_order, 0, warehouse, district)) then return end
      local order = sql.next_order.number(0)
      if not run(at_district(sql.count_order, 0, warehouse, district)) or not read(sql.warehouse_tax) then return end
      if not read(at(sql.buyer, 0, warehouse, district, customer)) or not add_order(order) then return end
      for line = 0, lines - 1 do
         sql.item.numbers[0] = items[line]
         if not run(sql.item) then return end
         if not sql.item.fetch() then
            if rollback() then client.rolled_back = client.rolled_back + 1 end
            return
         end
         if not add_line(order, line) then return end
      end
      commit()
   end

   function operations.new_order()
      draw_order()
      return send_order, own.what
   end

   -- payment and order_status

   local of_warehouse, of_district, cents = 0, 0, 0  -- of the customer

   local function draw_customer()
      name = stream.below(100) < 60 and draws.name(stream, "run", opt.customers) or -1
      if name < 0 then customer = draws.customer(stream, opt.customers) end
   end

   -- Of the customers of a name, that in the middle.
   local function find_customer()
      if name < 0 then return true end
      local text = draws.names[name]
      at_district(sql.named, 0, of_warehouse, of_district).set_text(2, text.at, text.length)
      if not read(sql.named) then return false end
      for _ = 2, floor((affected.nrows + 1) / 2) do sql.named.fetch() end
      customer = sql.named.number(0)
      return true
   end

   local BAD = 66  -- BC, not GC
   local REMARK = "?????c ??d ??????w ??d ??????w ??????? "  -- ids of the customer, of the place of payment, and cents
   local remark = ffi.new("char[?]", #REMARK + 1, REMARK)

   local function write_remark()
      digits(remark, customer, 5)
      digits(remark + 7, of_district, 2)
      digits(remark + 11, of_warehouse, 6)
      digits(remark + 19, district, 2)
      digits(remark + 23, warehouse, 6)
      digits(remark + 31, cents, 7)
   end

   local GAP = 4  -- spaces between two names
   local places, places_length = ffi.new("char[?]", 256), 0

   -- The names of warehouse and district, for the history.
   local function read_places()
      sql.warehouse.numbers[0] = warehouse
      if not read(sql.warehouse) then return false end
      local text, length = sql.warehouse.text(0)
      copy(places, text, length)
      ffi.fill(places + length, GAP, 32)
      if not read(at_district(sql.district, 0, warehouse, district)) then return false end
      local second, second_length = sql.district.text(0)
      copy(places + length + GAP, second, second_length)
      places_length = length + GAP + second_length
      return true
   end

   local function pay_customer()
      if not find_customer() or not read(at(sql.payer, 0, of_warehouse, of_district, customer)) then return false end
      local is_bad = sql.payer.text(0)[0] == BAD
      local pay = is_bad and sql.pay_badly or sql.pay
      pay.numbers[0], pay.numbers[1] = cents, cents
      if not is_bad then return run(at(pay, 2, of_warehouse, of_district, customer)) end
      write_remark()
      pay.set_text(2, remark, #REMARK)
      return run(at(pay, 3, of_warehouse, of_district, customer))
         and run(at(sql.remarks, 0, of_warehouse, of_district, customer))
   end

   local function send_payment()
      local district_paid = at_district(sql.pay_district, 1, warehouse, district)
      sql.pay_warehouse.numbers[0], sql.pay_warehouse.numbers[1], district_paid.numbers[0] = cents, warehouse, cents
      if not begin() or not run(sql.pay_warehouse) or not run(district_paid) or not read_places() then return end
      if not pay_customer() then return end
      local history = at_district(at(sql.add_history, 0, customer, of_district, of_warehouse), 3, district, warehouse)
      history.numbers[5] = cents
      history.set_text(6, places, places_length)
      if run(history) then commit() end
   end

   -- 15 of 100 pay in a district of another warehouse.
   function operations.payment()
      district, cents = between(stream, 1, DISTRICTS), between(stream, 100, 500000)
      of_warehouse, of_district = warehouse, district
      if stream.below(100) >= 85 and opt.warehouses > 1 then
         of_warehouse, of_district = remote(), between(stream, 1, DISTRICTS)
      end
      draw_customer()
      return send_payment, own.what
   end

   local function send_status()
      if not begin() or not find_customer() then return end
      if not run(at(sql.balance, 0, of_warehouse, of_district, customer)) then return end
      if not read(at(sql.last_order, 0, of_warehouse, of_district, customer)) then return end
      if run(at(sql.lines, 0, of_warehouse, of_district, sql.last_order.number(0))) then commit() end
   end

   function operations.order_status()
      of_warehouse, of_district = warehouse, between(stream, 1, DISTRICTS)
      draw_customer()
      return send_status, own.what
   end

   -- delivery

   local carrier, skipped = 0, 0

   -- The oldest order of a district. Where another client has just delivered it, PostgreSQL may give none.
   local function deliver(d)
      if not run(at_district(sql.oldest, 0, warehouse, d)) then return false end
      if not sql.oldest.fetch() then
         skipped = skipped + 1
         return true
      end
      local order = sql.oldest.number(0)
      if not run(at(sql.drop_new_order, 0, warehouse, d, order)) then return false end
      if not read(at(sql.order_of, 0, warehouse, d, order)) then return false end
      local buyer = sql.order_of.number(0)
      sql.carry.numbers[0] = carrier
      if not run(at(sql.carry, 1, warehouse, d, order)) or not run(at(sql.deliver, 0, warehouse, d, order)) then
         return false
      end
      if not read(at(sql.amount, 0, warehouse, d, order)) then return false end
      sql.charge.numbers[0] = sql.amount.number(0)
      return run(at(sql.charge, 1, warehouse, d, buyer))
   end

   local function send_delivery()
      if not begin() then return end
      skipped = 0
      for d = 1, DISTRICTS do
         if not deliver(d) then return end
      end
      if commit() then client.skipped = client.skipped + skipped end
   end

   function operations.delivery()
      carrier = between(stream, 1, 10)
      return send_delivery, own.what
   end

   -- stock_level

   local threshold = 0

   local function send_level()
      if not begin() or not read(at_district(sql.newest, 0, warehouse, home.district)) then return end
      local next_order = sql.newest.number(0)
      at(sql.low_stock, 0, warehouse, home.district, next_order - 20)
      sql.low_stock.numbers[3], sql.low_stock.numbers[4] = next_order, threshold
      if run(sql.low_stock) then commit() end
   end

   function operations.stock_level()
      threshold = between(stream, 10, 20)
      return send_level, own.what
   end

   return operations
end
