-- The lines of a client in the report: all its requests for an interval, each operation and the graph at the end.

local clock, memory, report = require("clock"), require("client_memory"), require("client_report")
local lines = {}

-- Requests, or rows of a load.
local function each_role(client, act)
   if client.load.began > 0 then act("load", client.load, 0) end
   for index, name in ipairs(memory.OPERATIONS) do
      local role = client.operations[index - 1]
      if role.began > 0 then act(name, role, client.seconds[index - 1]) end
   end
end

-- No operation comes at a certain moment of a second.
function lines.late() return 0 end

local INTERVAL = '{"report": "client", "client": %d, "second": %.3f, "interval": %.3f, "operations": %.0f, '
   .. '"longest": %.6f, "retries": %.0f}\n'
local reported = {}  -- by client: what earlier intervals had

function lines.interval(number, second, length)
   local count, retries, longest = 0, 0, 0
   each_role(memory.block().clients[number], function(_, role)
      count, retries, longest = count + role.count, retries + role.retries, math.max(longest, role.longest_lately)
      role.longest_lately = 0
   end)
   local before = reported[number] or {count = 0, retries = 0}
   reported[number] = {count = count, retries = retries}
   return INTERVAL:format(number, second, length, count - before.count, longest, retries - before.retries)
end

local ROLE = '{"report": "role", "client": %d, "operation": "%s", "count": %.0f, "retries": %.0f, "began": %.6f, '
   .. '"ended": %.6f, "longest": %.6f, "seconds": %.6f, "buckets": [%s]}\n'
local GRAPH = '{"report": "graph", "client": %d, "nodes": %.0f, "links": %.0f, "counts": %.0f, "deleted": %.0f, '
   .. '"history": %.0f}\n'

function lines.total(number)
   local client, found = memory.block().clients[number], {}
   each_role(client, function(name, role, seconds)
      local ended = role.ended > 0 and role.ended or clock.seconds()
      found[#found + 1] = ROLE:format(number, name, role.count, role.retries, role.began, ended, role.longest, seconds,
         report.buckets(role))
   end)
   found[#found + 1] = GRAPH:format(number, client.nodes, client.links, client.counts, client.deleted, client.history)
   return table.concat(found)
end

return lines
