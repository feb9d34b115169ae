-- The least that a client of sysbench can do for tpcc: the same prepared statements with the same numbers over and over,
-- and no row is read. A hundred transactions by the mix, each rolled back so that the next may insert the same rows.

local clock, processor_time = require("clock"), require("processor_time")
local sender, statements = require("sender"), require("statements")
local ORDER = 1000000000  -- that no load has
local LINES = 10  -- of an order, in the mean

sysbench.cmdline.options = {
   statements = {"not used", ""},
   seconds = {"how long they are sent", 0},
}

local sql, connection

local function act(statement, ...)
   for place = 1, select("#", ...) do statement.numbers[place - 1] = select(place, ...) end
   statement.send()
   if connection.error ~= 0 then error(statement.what()) end
end

local function new_order()
   act(sql.next_order, 1, 1)
   act(sql.count_order, 1, 1)
   act(sql.warehouse_tax, 1)
   act(sql.buyer, 1, 1, 1)
   act(sql.add_order, ORDER, 1, 1, 1, LINES, 1)
   act(sql.add_new_order, ORDER, 1, 1)
   for line = 1, LINES do
      act(sql.item, line)
      act(sql.stock[1], 1, line)
      act(sql.take_stock, 50, 5, 0, 1, line)
      act(sql.add_line, ORDER, 1, 1, line, line, 1, 5, 1000)
   end
end

local function payment(number)
   act(sql.pay_warehouse, 1000, 1)
   act(sql.warehouse, 1)
   act(sql.pay_district, 1000, 1, 1)
   act(sql.district, 1, 1)
   if number % 5 < 3 then act(sql.named, 1, 1) end
   act(sql.payer, 1, 1, 1)
   if number % 10 == 0 then
      act(sql.pay_badly, 1000, 1000)
      act(sql.remarks, 1, 1, 1)
   else
      act(sql.pay, 1000, 1000, 1, 1, 1)
   end
   act(sql.add_history, 1, 1, 1, 1, 1, 1000)
end

local function order_status(number)
   if number % 5 < 3 then act(sql.named, 1, 1) end
   act(sql.balance, 1, 1, 1)
   act(sql.last_order, 1, 1, 1)
   act(sql.lines, 1, 1, 1)
end

local function delivery()
   for district = 1, 10 do
      act(sql.oldest, 1, district)
      act(sql.drop_new_order, 1, district, 250)
      act(sql.order_of, 1, district, 250)
      act(sql.carry, 1, 1, district, 250)
      act(sql.deliver, 1, district, 250)
      act(sql.amount, 1, district, 250)
      act(sql.charge, 1000, 1, district, 1)
   end
end

local function stock_level()
   act(sql.newest, 1, 1)
   act(sql.low_stock, 1, 1, 281, 301, 15)
end

local MIX = {{new_order, 45}, {payment, 43}, {order_status, 4}, {delivery, 4}, {stock_level, 4}}

function thread_init()
   local postgres
   connection, postgres = sender.connect()
   sql = statements(connection, postgres)
   local name = require("draws").names[0]
   sql.named.set_text(2, name.at, name.length)
   sql.add_line.set_text(8, ("x"):rep(24), 24)
   sql.add_history.set_text(6, ("x"):rep(24), 24)
   sql.pay_badly.set_text(2, ("x"):rep(39), 39)
   sql.pay_badly.numbers[3], sql.pay_badly.numbers[4], sql.pay_badly.numbers[5] = 1, 1, 1
end

function event()
   local done, ends = 0, clock.seconds() + sysbench.opt.seconds
   local user, system = processor_time()
   while clock.seconds() < ends do
      for _, part in ipairs(MIX) do
         for number = 1, part[2] do
            act(sql.begin)
            part[1](number)
            act(sql.rollback)
         end
      end
      done = done + 100
   end
   local user_now, system_now = processor_time()
   local file = io.open("done.json", "w")
   file:write(('{"done": %.0f, "user": %.6f, "system": %.6f}'):format(done, user_now - user, system_now - system))
   file:close()
   return true
end
