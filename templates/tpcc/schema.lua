-- The nine tables, and the two secondary indexes, which are made when the rows are in.

local sender = require("sender")
local opt = sysbench.opt
local schema = {}

local ADDRESS = "$_street_1 varchar(20), $_street_2 varchar(20), $_city varchar(20), $_state char(2), $_zip char(9), "
local DISTS = ""
for district = 1, 10 do DISTS = DISTS .. ("s_dist_%02d char(24), "):format(district) end

schema.TABLES = {
   item = "i_id int NOT NULL, i_im_id int, i_name varchar(24), i_price decimal(5,2), i_data varchar(50), "
      .. "PRIMARY KEY (i_id)",
   warehouse = "w_id int NOT NULL, w_name varchar(10), " .. ADDRESS:gsub("%$", "w")
      .. "w_tax decimal(4,4), w_ytd decimal(12,2), PRIMARY KEY (w_id)",
   district = "d_id int NOT NULL, d_w_id int NOT NULL, d_name varchar(10), " .. ADDRESS:gsub("%$", "d")
      .. "d_tax decimal(4,4), d_ytd decimal(12,2), d_next_o_id int, PRIMARY KEY (d_w_id, d_id)",
   customer = "c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16), c_middle char(2), "
      .. "c_last varchar(16), " .. ADDRESS:gsub("%$", "c") .. "c_phone char(16), c_since timestamp NULL, "
      .. "c_credit char(2), c_credit_lim decimal(12,2), c_discount decimal(4,4), c_balance decimal(12,2), "
      .. "c_ytd_payment decimal(12,2), c_payment_cnt int, c_delivery_cnt int, c_data varchar(500), "
      .. "PRIMARY KEY (c_w_id, c_d_id, c_id)",
   history = "h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date timestamp NULL, "
      .. "h_amount decimal(6,2), h_data varchar(24)",
   new_order = "no_o_id int NOT NULL, no_d_id int NOT NULL, no_w_id int NOT NULL, "
      .. "PRIMARY KEY (no_w_id, no_d_id, no_o_id)",
   orders = "o_id int NOT NULL, o_d_id int NOT NULL, o_w_id int NOT NULL, o_c_id int, o_entry_d timestamp NULL, "
      .. "o_carrier_id int, o_ol_cnt int, o_all_local int, PRIMARY KEY (o_w_id, o_d_id, o_id)",
   order_line = "ol_o_id int NOT NULL, ol_d_id int NOT NULL, ol_w_id int NOT NULL, ol_number int NOT NULL, "
      .. "ol_i_id int, ol_supply_w_id int, ol_delivery_d timestamp NULL, ol_quantity int, ol_amount decimal(6,2), "
      .. "ol_dist_info char(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)",
   stock = "s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int, " .. DISTS
      .. "s_ytd int, s_order_cnt int, s_remote_cnt int, s_data varchar(50), PRIMARY KEY (s_w_id, s_i_id)",
}

function schema.make(connection, postgres)
   local engine = opt.storage_engine ~= "" and " ENGINE = " .. opt.storage_engine or ""
   local encoding = postgres and "" or " CHARACTER SET latin1"
   for name, columns in pairs(schema.TABLES) do
      if opt.anew then sender.rows(connection, "DROP TABLE IF EXISTS " .. name) end
      sender.rows(connection, ("CREATE TABLE %s (%s)%s%s %s"):format(name, columns, engine, encoding, opt.table_options))
   end
end

function schema.index(connection)
   sender.rows(connection, "CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first)")
   sender.rows(connection, "CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)")
end

return schema
