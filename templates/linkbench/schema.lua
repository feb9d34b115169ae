-- The three tables, and the secondary index of links, which covers the lists that are asked for.

local sender = require("sender")
local opt = sysbench.opt
local schema = {}

-- What differs: whole numbers without a sign, the id that the server gives, long texts.
local WORDS = {
   mysql = {big = "bigint unsigned", int = "int unsigned", tiny = "tinyint", id = "bigint unsigned", long = "mediumtext",
      generated = " AUTO_INCREMENT"},
   postgres = {big = "bigint", int = "bigint", tiny = "smallint", id = "bigserial", long = "text", generated = ""},
}
local TABLES = {
   linktable = "id1 $big NOT NULL, id2 $big NOT NULL, link_type $big NOT NULL, visibility $tiny NOT NULL, "
      .. "data varchar(255) NOT NULL, time $big NOT NULL, version $int NOT NULL, PRIMARY KEY (link_type, id1, id2)",
   counttable = "id $big NOT NULL, link_type $big NOT NULL, count $int NOT NULL, time $big NOT NULL, "
      .. "version $big NOT NULL, PRIMARY KEY (id, link_type)",
   nodetable = "id $id NOT NULL$generated, type $int NOT NULL, version $big NOT NULL, time $int NOT NULL, "
      .. "data $long NOT NULL, PRIMARY KEY (id)",
}
local INDEX = "CREATE INDEX id1_type ON linktable (id1, link_type, visibility, time, id2, version, data)"

function schema.make(connection, postgres)
   local words = WORDS[postgres and "postgres" or "mysql"]
   local engine = opt.storage_engine ~= "" and " ENGINE = " .. opt.storage_engine or ""
   local encoding = postgres and "" or " CHARACTER SET latin1"
   for name, columns in pairs(TABLES) do
      if opt.anew then sender.rows(connection, "DROP TABLE IF EXISTS " .. name) end
      local text = columns:gsub("%$(%a+)", words)
      sender.rows(connection, ("CREATE TABLE %s (%s)%s%s %s"):format(name, text, engine, encoding, opt.table_options))
   end
end

function schema.index(connection)
   sender.rows(connection, INDEX)
end

-- Nodes are loaded with the ids that they are to have: a sequence does not see that.
function schema.next_node(connection, postgres, id)
   if postgres then sender.rows(connection, ("SELECT setval('nodetable_id_seq', %.0f)"):format(id)) end
end

return schema
