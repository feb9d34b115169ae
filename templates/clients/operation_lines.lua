-- The lines of a client of several operations: all of them for an interval, each of them at the end. Its struct has a
-- role and seconds for each operation, and one role of its load.

local clock, report = require("clock"), require("client_report")

local INTERVAL = '{"report": "client", "client": %d, "second": %.3f, "interval": %.3f, "operations": %.0f, '
   .. '"longest": %.6f, "retries": %.0f}\n'
local ROLE = '{"report": "role", "client": %d, "operation": "%s", "count": %.0f, "retries": %.0f, "began": %.6f, '
   .. '"ended": %.6f, "longest": %.6f, "seconds": %.6f, "buckets": [%s]}\n'

-- `memory`: that of the kind; `more(number, client)`: its own line at the end.
return function(memory, more)
   local lines = {}

   -- Operations, or rows of a load.
   local function each_role(client, act)
      if client.load.began > 0 then act("load", client.load, 0) end
      for index, name in ipairs(memory.OPERATIONS) do
         local role = client.operations[index - 1]
         if role.began > 0 then act(name, role, client.seconds[index - 1]) end
      end
   end

   -- No operation comes at a certain moment of a second.
   function lines.late() return 0 end

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

   function lines.total(number)
      local client, parts = memory.block().clients[number], {}
      each_role(client, function(name, role, seconds)
         local ended = role.ended > 0 and role.ended or clock.seconds()
         parts[#parts + 1] = ROLE:format(number, name, role.count, role.retries, role.began, ended, role.longest,
            seconds, report.buckets(role))
      end)
      parts[#parts + 1] = more(number, client)
      return table.concat(parts)
   end

   return lines
end
