-- The statements of the requests, where the servers differ.

local FIND = "SELECT visibility FROM linktable WHERE id1 = %d AND id2 = %d AND link_type = %d FOR UPDATE"
local INSERT = "INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) "
   .. "VALUES (%d, %d, %d, 1, '%s', %d, 0) "
local COUNT = "INSERT INTO counttable (id, link_type, count, time, version) VALUES (%d, %d, 1, %d, 0) "
local LIST = "SELECT id1, id2, link_type, visibility, data, time, version FROM linktable%s "
   .. "WHERE id1 = %%d AND link_type = %%d AND time >= 0 AND time <= %%.0f AND visibility = 1 "
   .. "ORDER BY time DESC LIMIT %%d OFFSET %%d"
local NODE = "INSERT INTO nodetable (type, version, time, data) VALUES (2048, 1, %d, '%s')"

-- An INSERT of a link that is there must not be taken for one that is new: a client may ask MySQL to count rows that it
-- found and left as they are, so that it changes one column of them.
return function(postgres)
   return {
      find_link = FIND,
      insert_link = INSERT .. (postgres and "ON CONFLICT DO NOTHING" or "ON DUPLICATE KEY UPDATE version = version + 1"),
      update_link = "UPDATE linktable SET visibility = 1, data = '%s', time = %d, version = version + 1 "
         .. "WHERE id1 = %d AND id2 = %d AND link_type = %d",
      hide_link = "UPDATE linktable SET visibility = 0 WHERE id1 = %d AND id2 = %d AND link_type = %d",
      count_up = COUNT .. (postgres and "ON CONFLICT (id, link_type) DO UPDATE SET count = counttable.count + 1, "
         .. "version = counttable.version + 1, time = excluded.time"
         or "ON DUPLICATE KEY UPDATE count = count + 1, version = version + 1, time = VALUES(time)"),
      count_down = "UPDATE counttable SET count = count - 1, version = version + 1, time = %d "
         .. "WHERE id = %d AND link_type = %d",
      count = "SELECT count FROM counttable WHERE id = %d AND link_type = %d",
      links = "SELECT id1, id2, link_type, visibility, data, time, version FROM linktable "
         .. "WHERE id1 = %d AND link_type = %d AND id2 IN (%s)",
      list = LIST:format(postgres and "" or " FORCE INDEX (id1_type)"),
      node = "SELECT id, type, version, time, data FROM nodetable WHERE id = %d",
      add_node = NODE,
      update_node = "UPDATE nodetable SET version = version + 1, time = %d, data = '%s' WHERE id = %d AND type = 2048",
      delete_node = "DELETE FROM nodetable WHERE id = %d AND type = 2048",
   }
end
