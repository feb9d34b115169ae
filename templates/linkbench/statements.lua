-- The statements of the requests, where the servers differ.

local data, statement = require("data_text"), require("statement")

-- Ids and link types have 10 digits, milliseconds 13.
local FIND = "SELECT visibility FROM linktable WHERE id1 = ?10 AND id2 = ?10 AND link_type = ?10 FOR UPDATE"
local INSERT = "INSERT INTO linktable (id1, id2, link_type, visibility, time, version, data) "
   .. "VALUES (?10, ?10, ?10, 1, ?13, 0, '?text') "
local COUNT = "INSERT INTO counttable (id, link_type, count, time, version) VALUES (?10, ?10, 1, ?13, 0) "
local COLUMNS = "id1, id2, link_type, visibility, data, time, version"
local LIST = "SELECT " .. COLUMNS .. " FROM linktable%s WHERE id1 = ?10 AND link_type = ?10 AND time >= 0 AND time <= %s "
   .. "AND visibility = 1 ORDER BY time DESC LIMIT %d OFFSET %d"
local LINKS = "SELECT " .. COLUMNS .. " FROM linktable WHERE id1 = ?10 AND link_type = ?10 AND id2 IN (%s)"
local FOREVER = "4611686018427387904"

-- An INSERT of a link that is there must not be taken for one that is new: a client may ask MySQL to count rows that it
-- found and left as they are, so that it changes one column of them.
return function(connection, postgres, list_limit)
   local force = postgres and "" or " FORCE INDEX (id1_type)"
   local function made(sql, room) return statement(connection, postgres, sql, room) end
   local links = {}
   return {
      begin = made("BEGIN"),
      commit = made("COMMIT"),
      rollback = made("ROLLBACK"),
      find_link = made(FIND),
      insert_link = made(INSERT .. (postgres and "ON CONFLICT DO NOTHING"
         or "ON DUPLICATE KEY UPDATE version = version + 1"), data.LINK.most),
      update_link = made("UPDATE linktable SET visibility = 1, time = ?13, version = version + 1, data = '?text' "
         .. "WHERE id1 = ?10 AND id2 = ?10 AND link_type = ?10", data.LINK.most),
      hide_link = made("UPDATE linktable SET visibility = 0 WHERE id1 = ?10 AND id2 = ?10 AND link_type = ?10"),
      count_up = made(COUNT .. (postgres and "ON CONFLICT (id, link_type) DO UPDATE SET count = counttable.count + 1, "
         .. "version = counttable.version + 1, time = excluded.time"
         or "ON DUPLICATE KEY UPDATE count = count + 1, version = version + 1, time = VALUES(time)")),
      count_down = made("UPDATE counttable SET count = count - 1, version = version + 1, time = ?13 "
         .. "WHERE id = ?10 AND link_type = ?10"),
      count = made("SELECT count FROM counttable WHERE id = ?10 AND link_type = ?10"),
      -- By how many links are asked for.
      links = function(count)
         links[count] = links[count] or made(LINKS:format(("?10, "):rep(count - 1) .. "?10"))
         return links[count]
      end,
      list = made(LIST:format(force, FOREVER, list_limit, 0)),
      continued_list = made(LIST:format(force, "?13", list_limit, 1)),
      node = made("SELECT id, type, version, time, data FROM nodetable WHERE id = ?10"),
      add_node = made("INSERT INTO nodetable (type, version, time, data) VALUES (2048, 1, ?10, '?text')", data.NODE.most),
      update_node = made("UPDATE nodetable SET version = version + 1, time = ?10, data = '?text' "
         .. "WHERE id = ?10 AND type = 2048", data.NODE.most),
      delete_node = made("DELETE FROM nodetable WHERE id = ?10 AND type = 2048"),
   }
end
