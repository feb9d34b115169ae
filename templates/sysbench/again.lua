-- The load on a server that ran before: tables of these names go first. Nobody requires it: it is given to such a load.

local tables, statements = require("tables"), require("statements")
local make = tables.make

function tables.make(number)
   statements.connection:query(string.format("DROP TABLE IF EXISTS sbtest%d", number))
   make(number)
end

require("load")
