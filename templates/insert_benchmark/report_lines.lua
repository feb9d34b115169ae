-- The lines of a client in the report: by what it does, for an interval and at the end.

local clock, memory, report = require("clock"), require("client_memory"), require("client_report")
local ROLES = {{"insert", "insert"}, {"delete", "remove"}, {"query", "query"}}
local PLURALS = {insert = "inserts", delete = "deletes", query = "queries"}
local lines = {}

local function each_role(client, act)
   for _, names in ipairs(ROLES) do
      local role = client[names[2]]
      if role.began > 0 then act(names[1], role) end
   end
end

-- Rows of a rate come when a second begins: a report at that moment has those of two seconds, or of none. Late in it,
-- the first one, which is of that much more than a second, has hardly more of them than the others.
local LATE = 0.8

function lines.late()
   return sysbench.opt.insert_rate > 0 and LATE or 0
end

local reported = {}  -- by client and name: what earlier intervals had

local function lately(number, name, value)
   local key = number .. name
   local before = reported[key] or 0
   reported[key] = value
   return value - before
end

local INTERVAL = '{"report": "client", "client": %d, "second": %.3f, "interval": %.3f%s, "retries": %.0f}\n'

-- Roles that a step does not have are left out.
function lines.interval(number, second, length)
   local parts, retries = {}, 0
   each_role(memory.block().clients[number], function(name, role)
      parts[#parts + 1] = (', "%s": %.0f'):format(PLURALS[name], lately(number, name, role.count))
      parts[#parts + 1] = (', "max_%s": %.6f'):format(name, role.longest_lately)
      role.longest_lately = 0
      retries = retries + role.retries
   end)
   return INTERVAL:format(number, second, length, table.concat(parts), lately(number, "retries", retries))
end

local ROLE = '{"report": "role", "client": %d, "operation": "%s", "count": %.0f, "retries": %.0f, "began": %.6f, '
   .. '"ended": %.6f, "longest": %.6f, "resyncs": %.0f, "resync_seconds": %.6f, "buckets": [%s]}\n'
local PROGRESS = '{"report": "progress", "client": %d, "inserted": %.0f, "deleted": %.0f}\n'

function lines.total(number)
   local client, found = memory.block().clients[number], {}
   each_role(client, function(name, role)
      local ended = role.ended > 0 and role.ended or clock.seconds()
      local deletes = name == "delete"
      found[#found + 1] = ROLE:format(number, name, role.count, role.retries, role.began, ended, role.longest,
         deletes and client.resyncs or 0, deletes and client.resync_seconds or 0, report.buckets(role))
   end)
   found[#found + 1] = PROGRESS:format(number, client.ordinal, client.deleted)
   return table.concat(found)
end

return lines
