-- What graph the database holds, in a small table of it: the next step goes on from there, and an image of the database
-- carries it. Written when a step begins and when it has ended, not while it is measured.

local sender = require("sender")
local state = {}

local NAME = "linkbench_state"
local COLUMNS = {"ids", "seed", "link_types", "links", "added", "deleted", "writing"}
local MADE = "CREATE TABLE %s (number int NOT NULL PRIMARY KEY, ids bigint NOT NULL, seed bigint NOT NULL, "
   .. "link_types bigint NOT NULL, links bigint NOT NULL, added bigint NOT NULL, deleted bigint NOT NULL, "
   .. "writing int NOT NULL)"
local UNFINISHED = "the step that wrote the graph last did not end%s"

function state.make(connection)
   if sysbench.opt.anew then sender.rows(connection, "DROP TABLE IF EXISTS " .. NAME) end
   local engine = sysbench.opt.storage_engine
   sender.rows(connection, MADE:format(NAME) .. (engine ~= "" and " ENGINE = " .. engine or ""))
end

-- Numbers by the names of the columns. A graph that a step left unfinished is no start of another: `hint` says so.
function state.read(connection, hint)
   local row = sender.rows(connection, ("SELECT %s FROM %s"):format(table.concat(COLUMNS, ", "), NAME))[1]
   if row == nil then error("no graph is loaded", 0) end
   local found = {}
   for index, name in ipairs(COLUMNS) do
      found[name] = tonumber(row[index])
   end
   if found.writing ~= 0 then error(UNFINISHED:format(hint), 0) end
   return found
end

function state.write(connection, block, writing)
   local values = {"1", ("%.0f"):format(block.ids), ("%.0f"):format(block.seed), ("%.0f"):format(block.link_types),
      ("%.0f"):format(block.links), ("%.0f"):format(block.added), ("%.0f"):format(block.deleted), tostring(writing)}
   sender.rows(connection, "DELETE FROM " .. NAME)
   sender.rows(connection, ("INSERT INTO %s VALUES (%s)"):format(NAME, table.concat(values, ", ")))
end

return state
