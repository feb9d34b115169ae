-- The step that checks the graph: that counttable counts the visible links, that the nodes are those that were loaded
-- and added and not deleted, and that no link leads to or from an id that never was a node.

local sender = require("sender")
local memory, state, report = require("client_memory"), require("graph_state"), require("client_report")
local checking = {}
local connection

function checking.init() memory.make(1) end
function checking.thread_init() connection = sender.connect() end

local VISIBLE = "SELECT id1, link_type, count(*) AS links FROM linktable WHERE visibility = 1 GROUP BY id1, link_type"
local MISCOUNTED = "SELECT c.id, c.link_type, c.count, coalesce(l.links, 0) FROM counttable c LEFT JOIN (" .. VISIBLE
   .. ") l ON l.id1 = c.id AND l.link_type = c.link_type WHERE c.count <> coalesce(l.links, 0) ORDER BY 1, 2 LIMIT 1"
local UNCOUNTED = "SELECT l.id1, l.link_type, l.links FROM (" .. VISIBLE .. ") l LEFT JOIN counttable c "
   .. "ON c.id = l.id1 AND c.link_type = l.link_type WHERE c.id IS NULL ORDER BY 1, 2 LIMIT 1"
local FOREIGN = "SELECT id1, id2, link_type FROM linktable WHERE id1 < 1 OR id1 > %.0f OR id2 < 1 OR id2 > %.0f "
   .. "ORDER BY 1, 2, 3 LIMIT 1"
local ORPHANED = "SELECT count(*) FROM linktable l LEFT JOIN nodetable n ON n.id = l.%s WHERE n.id IS NULL"

local function rows(sql, ...) return sender.rows(connection, sql:format(...)) end
local function number(sql, ...) return tonumber(rows(sql, ...)[1][1]) end

local function refuse(text, row)
   if row then error(text:format(unpack(row)), 0) end
end

local function expect(what, found, expected)
   if found ~= expected then error(("%s: %.0f, and should be %.0f"):format(what, found, expected), 0) end
end

local LINE = '{"report": "check", "nodes": %.0f, "links": %.0f, "visible": %.0f, "counts": %.0f, "orphaned": %.0f}\n'

function checking.event()
   local graph = state.read(connection, "")
   refuse("id %s, link_type %s: counttable has a count of %s, and there are %s visible links",
      rows(MISCOUNTED)[1])
   refuse("id %s, link_type %s: counttable has no count, and there are %s visible links", rows(UNCOUNTED)[1])
   expect("nodes of the load", number("SELECT count(*) FROM nodetable WHERE id <= %.0f", graph.ids),
      graph.ids - graph.deleted)
   expect("nodes that were added", number("SELECT count(*) FROM nodetable WHERE id > %.0f", graph.ids), graph.added)
   refuse("the link from %s to %s, link_type %s, has an end that never was a node", rows(FOREIGN, graph.ids, graph.ids)[1])
   report.write(LINE:format(number("SELECT count(*) FROM nodetable"), number("SELECT count(*) FROM linktable"),
      number("SELECT count(*) FROM linktable WHERE visibility = 1"), number("SELECT count(*) FROM counttable"),
      number(ORPHANED, "id1")))
   return true
end

function checking.done() end

return checking
