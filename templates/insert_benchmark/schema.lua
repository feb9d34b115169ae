-- The tables and their secondary indexes, as each server has them.

local sender = require("sender")
local opt = sysbench.opt
local schema = {}

local INDEXES = {
   {"marketsegment", "productid,customerid,price"},
   {"registersegment", "cashregisterid,customerid,price"},
   {"pdc", "price,dateandtime,customerid"},
}
local COLUMNS = [[
dateandtime %s, cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL,
data varchar(4000), PRIMARY KEY (transactionid)]]
local IDS_OF_A_SESSION = 1000  -- that PostgreSQL's sequence gives at once

local function on_mysql(name)
   local parts = {}
   for number = 1, opt.partitions do
      local least = number < opt.partitions and ("(%.0f)"):format(number * opt.partition_rows + 1) or "MAXVALUE"
      parts[number] = ("PARTITION p%d VALUES LESS THAN %s"):format(number, least)
   end
   local by = #parts > 0 and (" PARTITION BY RANGE (transactionid) (%s)"):format(table.concat(parts, ", ")) or ""
   local engine = opt.storage_engine ~= "" and " ENGINE = " .. opt.storage_engine or ""
   return {("CREATE TABLE %s (transactionid bigint NOT NULL AUTO_INCREMENT, %s)%s %s%s"):format(
      name, COLUMNS:format("datetime"), engine, opt.table_options, by)}
end

local function on_postgres(name)
   local by = opt.partitions > 0 and "PARTITION BY RANGE (transactionid)" or opt.table_options
   local made = {("CREATE TABLE %s (transactionid bigserial, %s) %s"):format(name, COLUMNS:format("timestamp"), by)}
   for number = 1, opt.partitions do
      local least = number > 1 and ("%.0f"):format((number - 1) * opt.partition_rows + 1) or "MINVALUE"
      local most = number < opt.partitions and ("%.0f"):format(number * opt.partition_rows + 1) or "MAXVALUE"
      made[#made + 1] = ("CREATE TABLE %s_p%d PARTITION OF %s FOR VALUES FROM (%s) TO (%s) %s"):format(
         name, number, name, least, most, opt.table_options)
   end
   made[#made + 1] = ("ALTER SEQUENCE %s_transactionid_seq CACHE %d"):format(name, IDS_OF_A_SESSION)
   return made
end

function schema.make(connection, postgres, number)
   local name = ("pi%d"):format(number)
   if opt.anew then sender.rows(connection, "DROP TABLE IF EXISTS " .. name) end
   for _, sql in ipairs(postgres and on_postgres(name) or on_mysql(name)) do
      sender.rows(connection, sql)
   end
end

-- InnoDB makes all of them in one pass over the table.
function schema.index(connection, postgres, number)
   local name, parts = ("pi%d"):format(number), {}
   local one_pass = not postgres and opt.storage_engine == "innodb"
   for index = 1, opt.indexes do
      local key, columns = unpack(INDEXES[index])
      local sql = one_pass and "ADD INDEX %s_%s (%s)" or "CREATE INDEX %s_%s ON " .. name .. " (%s)"
      parts[index] = sql:format(name, key, columns)
   end
   if one_pass then parts = {("ALTER TABLE %s %s"):format(name, table.concat(parts, ", "))} end
   for _, sql in ipairs(parts) do
      sender.rows(connection, sql)
   end
end

return schema
