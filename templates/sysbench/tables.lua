-- The tables of the benchmark: how one is made on each server.

local statements = require("statements")
local tables = {}

local MADE = [[
CREATE TABLE sbtest%d (id %s, k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL
DEFAULT ''%s) %s %s]]

local function on_mysql(number)
   local key = sysbench.opt.primary_key and ", PRIMARY KEY (id)" or string.format(", KEY id_%d (id)", number)
   local engine = sysbench.opt.storage_engine
   return MADE:format(number, "INTEGER NOT NULL AUTO_INCREMENT", key, engine ~= "" and "ENGINE = " .. engine or "",
      sysbench.opt.table_options)
end

local function on_postgres(number)
   local key = sysbench.opt.primary_key and ", PRIMARY KEY (id)" or ""
   return MADE:format(number, "SERIAL", key, "", sysbench.opt.table_options)
end

local function run(sql, ...)
   statements.connection:query(sql:format(...))
end

function tables.make(number)
   run("%s", statements.server == "pgsql" and on_postgres(number) or on_mysql(number))
end

-- What is better made when the rows are there.
function tables.index(number)
   run("CREATE INDEX k_%d ON sbtest%d (k)", number, number)
   if statements.server == "pgsql" then
      if not sysbench.opt.primary_key then
         run("CREATE INDEX id_%d ON sbtest%d (id)", number, number)
      end
      run("SELECT setval('sbtest%d_id_seq', %d)", number, sysbench.opt.table_size)
   end
end

return tables
