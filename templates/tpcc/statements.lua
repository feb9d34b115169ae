-- The statements of the five transactions, of which only few words differ between the servers.
--
-- In their texts a number is `?`, a text `$`. Amounts go to the server in cents, and come from it so.

local C = require("ffi").C
local prepared, sender = require("prepared"), require("sender")
local NAME, DIST, ITEM_NAME, DATA, CREDIT = 10, 24, 24, 50, 2  -- bytes
local DISTRICTS = 10
local NUMBER = "number"

-- By name: its text, and what the client reads of its rows.
local TEXTS = {
   -- new_order
   warehouse_tax = {"SELECT w_tax FROM warehouse WHERE w_id = ?"},
   next_order = {"SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE", {NUMBER, 8}},
   count_order = {"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?"},
   buyer = {"SELECT c_discount, c_last, c_credit FROM customer "
      .. "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"},
   add_order = {"INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) "
      .. "VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)"},
   add_new_order = {"INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"},
   item = {"SELECT CAST(i_price * 100 AS WHOLE), i_name, i_data FROM item WHERE i_id = ?", {NUMBER, ITEM_NAME, DATA}},
   take_stock = {"UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, "
      .. "s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?"},
   add_line = {"INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, "
      .. "ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ? * 0.01, $)"},
   -- payment
   pay_warehouse = {"UPDATE warehouse SET w_ytd = w_ytd + ? * 0.01 WHERE w_id = ?"},
   warehouse = {"SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?",
      {NAME, 20, 20, 20, 2, 9}},
   pay_district = {"UPDATE district SET d_ytd = d_ytd + ? * 0.01 WHERE d_w_id = ? AND d_id = ?"},
   district = {"SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = ? AND d_id = ?",
      {NAME, 20, 20, 20, 2, 9}},
   named = {"SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = $ ORDER BY c_first", {NUMBER}},
   payer = {"SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, "
      .. "c_since, c_credit_lim, c_discount, c_balance FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? "
      .. "FOR UPDATE", {CREDIT, 16, 2, 16, 20, 20, 20, 2, 9, 16, 32, 16, 8, 16}},
   pay = {"UPDATE customer SET c_balance = c_balance - ? * 0.01, c_ytd_payment = c_ytd_payment + ? * 0.01, "
      .. "c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"},
   pay_badly = {"UPDATE customer SET c_balance = c_balance - ? * 0.01, c_ytd_payment = c_ytd_payment + ? * 0.01, "
      .. "c_payment_cnt = c_payment_cnt + 1, c_data = LEFT(CONCAT($, c_data), 500) "
      .. "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"},
   remarks = {"SELECT LEFT(c_data, 200) FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"},
   add_history = {"INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) "
      .. "VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ? * 0.01, $)"},
   -- order_status
   balance = {"SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"},
   last_order = {"SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? "
      .. "ORDER BY o_id DESC LIMIT 1", {NUMBER, 32, 16}},
   lines = {"SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
      .. "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"},
   -- delivery
   oldest = {"SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE",
      {NUMBER}},
   drop_new_order = {"DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?"},
   order_of = {"SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?", {NUMBER}},
   carry = {"UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?"},
   deliver = {"UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"},
   amount = {"SELECT CAST(SUM(ol_amount) * 100 AS WHOLE) FROM order_line "
      .. "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", {NUMBER}},
   charge = {"UPDATE customer SET c_balance = c_balance + ? * 0.01, c_delivery_cnt = c_delivery_cnt + 1 "
      .. "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"},
   -- stock_level
   newest = {"SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?", {NUMBER}},
   low_stock = {"SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id "
      .. "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?"},
}
local STOCK = "SELECT s_quantity, s_dist_%02d, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE"

local function plain(connection, text)
   return {
      send = function() return C.db_query(connection, text, #text) end,
      what = function() return text end,
   }
end

return function(connection, postgres)
   if not postgres then sender.rows(connection, "SET NAMES latin1") end  -- as the tables: no text is converted
   local affected = sender.result(connection)
   local whole = postgres and "integer" or "SIGNED"
   local function made(text, columns)
      return prepared(connection, postgres, affected, (text:gsub("WHOLE", whole)), columns)
   end
   local sql = {stock = {}, begin = plain(connection, "BEGIN"), commit = plain(connection, "COMMIT"),
      rollback = plain(connection, "ROLLBACK")}
   for name, text in pairs(TEXTS) do sql[name] = made(text[1], text[2]) end
   for district = 1, DISTRICTS do sql.stock[district] = made(STOCK:format(district), {NUMBER, DIST, DATA}) end
   return sql, affected
end
