-- How far each client has come, in a small table of the database: the next step goes on from there, and an image of the
-- database carries it. Written when a step begins and when it has ended, not while it is measured.

local sender = require("sender")
local progress = {}

local NAME = "insert_benchmark_progress"
local MADE = "CREATE TABLE %s (client int NOT NULL, table_number int NOT NULL, seed bigint NOT NULL, "
   .. "inserted bigint NOT NULL, deleted bigint NOT NULL, data_length_min int NOT NULL, data_length_max int NOT NULL, "
   .. "writing int NOT NULL, PRIMARY KEY (client, table_number))"
local COLUMNS = {"client", "table_number", "seed", "inserted", "deleted", "data_length_min", "data_length_max", "writing"}

function progress.make(connection)
   if sysbench.opt.anew then sender.rows(connection, "DROP TABLE IF EXISTS " .. NAME) end
   local engine = sysbench.opt.storage_engine
   sender.rows(connection, MADE:format(NAME) .. (engine ~= "" and " ENGINE = " .. engine or ""))
end

-- Tables of numbers by the names of the columns.
function progress.read(connection)
   local found = {}
   local sql = ("SELECT %s FROM %s ORDER BY table_number, client"):format(table.concat(COLUMNS, ","), NAME)
   for index, row in ipairs(sender.rows(connection, sql)) do
      found[index] = {}
      for column, name in ipairs(COLUMNS) do
         found[index][name] = tonumber(row[column])
      end
   end
   return found
end

function progress.write(connection, row)
   local where = ("client = %d AND table_number = %d"):format(row.client, row.table_number)
   local values = {}
   for index, name in ipairs(COLUMNS) do
      values[index] = ("%.0f"):format(row[name])
   end
   sender.rows(connection, ("DELETE FROM %s WHERE %s"):format(NAME, where))
   sender.rows(connection, ("INSERT INTO %s VALUES (%s)"):format(NAME, table.concat(values, ",")))
end

return progress
