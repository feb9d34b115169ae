-- The step that checks the database: the twelve conditions of TPC-C that its tables agree, in any state that transactions
-- leave. The first row of each query is what does not agree.

local sender, report = require("sender"), require("client_report")
local checking = {}
local connection

function checking.init() require("client_memory").make(1) end
function checking.thread_init() connection = sender.connect() end

-- Of each district, under the names w and d.
local function by_district(prefix, table, what)
   return ("(SELECT %s_w_id AS w, %s_d_id AS d, %s FROM %s GROUP BY %s_w_id, %s_d_id)"):format(prefix, prefix, what, table,
      prefix, prefix)
end

local DISTRICT = "SELECT d_w_id, d_id, %s, %s FROM district LEFT JOIN %s a ON a.w = d_w_id AND a.d = d_id "
local PLACE = "warehouse %s, district %s: "
local ORDER = "warehouse %s, district %s, order %s: "
local CUSTOMER = "warehouse %s, district %s, customer %s: "

local function of_district(text, left, right, table, more)
   return {PLACE .. text, DISTRICT:format(left, right, table) .. (more or "")
      .. ("WHERE %s <> COALESCE(%s, -1)"):format(left, right)}
end

-- By the number of the condition: what is wrong, by the columns of a row, and the query for such rows.
local CONDITIONS = {
   {"warehouse %s: w_ytd is %s, the sum of d_ytd %s", "SELECT w_id, w_ytd, d FROM warehouse JOIN "
      .. "(SELECT d_w_id, SUM(d_ytd) AS d FROM district GROUP BY d_w_id) a ON d_w_id = w_id WHERE w_ytd <> d"},
   of_district("d_next_o_id - 1 is %s, the newest order %s", "d_next_o_id - 1", "a.n",
      by_district("o", "orders", "MAX(o_id) AS n")),
   {PLACE .. "new orders from %s to %s, and there are %s", "SELECT w, d, low, high, n FROM "
      .. by_district("no", "new_order", "MIN(no_o_id) AS low, MAX(no_o_id) AS high, COUNT(*) AS n")
      .. " a JOIN district ON w = d_w_id AND d = d_id WHERE high - low + 1 <> n OR high <> d_next_o_id - 1"},
   of_district("the orders say %s lines, and there are %s", "b.n", "a.n",
      by_district("ol", "order_line", "COUNT(*) AS n"),
      "JOIN " .. by_district("o", "orders", "SUM(o_ol_cnt) AS n") .. " b ON b.w = d_w_id AND b.d = d_id "),
   {ORDER .. "carrier %s, its new order %s", "SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id FROM orders "
      .. "LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id "
      .. "WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)"},
   {ORDER .. "it says %s lines, and there are %s", "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, n FROM orders LEFT JOIN "
      .. "(SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS n FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) a "
      .. "ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_ol_cnt <> COALESCE(n, 0)"},
   {ORDER .. "carrier %s, a line delivered %s", "SELECT o_w_id, o_d_id, o_id, o_carrier_id, ol_delivery_d "
      .. "FROM order_line JOIN orders ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id "
      .. "WHERE (o_carrier_id IS NULL) <> (ol_delivery_d IS NULL)"},
   {"warehouse %s: w_ytd is %s, the history has %s", "SELECT w_id, w_ytd, h FROM warehouse LEFT JOIN "
      .. "(SELECT h_w_id, SUM(h_amount) AS h FROM history GROUP BY h_w_id) a ON h_w_id = w_id WHERE w_ytd <> COALESCE(h, 0)"},
   of_district("d_ytd is %s, the history has %s", "d_ytd", "a.h", by_district("h", "history", "SUM(h_amount) AS h")),
   {CUSTOMER .. "c_balance is %s, lines minus payments %s", "SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(a, 0) - "
      .. "COALESCE(h, 0) FROM customer $LINES $HISTORY WHERE c_balance <> COALESCE(a, 0) - COALESCE(h, 0)"},
   of_district("%s orders and new orders loaded and delivered, and there are %s", "b.n", "a.n - COALESCE(c.n, 0)",
      by_district("o", "orders", "COUNT(*) AS n"), "JOIN "
      .. by_district("c", "customer", "COUNT(*) - FLOOR(COUNT(*) * 3 / 10) + SUM(c_delivery_cnt) AS n")
      .. " b ON b.w = d_w_id AND b.d = d_id LEFT JOIN " .. by_district("no", "new_order", "COUNT(*) AS n")
      .. " c ON c.w = d_w_id AND c.d = d_id "),
   {CUSTOMER .. "c_balance and c_ytd_payment are %s, delivered lines %s", "SELECT c_w_id, c_d_id, c_id, "
      .. "c_balance + c_ytd_payment, COALESCE(a, 0) FROM customer $LINES "
      .. "WHERE c_balance + c_ytd_payment <> COALESCE(a, 0)"},
}
local PARTS = {  -- of each customer
   LINES = "LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS a FROM order_line JOIN orders ON ol_w_id = o_w_id "
      .. "AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) l "
      .. "ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id",
   HISTORY = "LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS h FROM history "
      .. "GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id",
}

local function words(row)
   local parts = {}
   for index = 1, 5 do parts[index] = row[index] or "none" end
   return unpack(parts)
end

function checking.event()
   local orders = sender.rows(connection, "SELECT count(*) FROM orders")[1][1]
   if orders == "0" then error("no order is in the database", 0) end
   for number, condition in ipairs(CONDITIONS) do
      local row = sender.rows(connection, condition[2]:gsub("%$(%u+)", PARTS) .. " LIMIT 1")[1]
      if row then error(("condition %d: "):format(number) .. condition[1]:format(words(row)), 0) end
   end
   report.write(('{"report": "check", "conditions": %d, "orders": %s}\n'):format(#CONDITIONS, orders))
   return true
end

function checking.done() end

return checking
