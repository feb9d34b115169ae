-- What the clients have done, as lines of JSON in report.jsonl: of each client for each second, and all of it at the end.

local ffi = require("ffi")
local clock, memory = require("clock"), require("graph_memory")
local HOLD, RELEASE = 1, 0
local report = {}

ffi.cdef "int pthread_setcancelstate(int state, int *old); int usleep(unsigned microseconds);"

function report.write(text)
   local file = assert(io.open("report.jsonl", "a"))
   file:write(text)
   file:close()
end

-- sysbench ends its reporting thread when the run ends, also in the middle of a line.
local function whole(make)
   return function(stat)
      ffi.C.pthread_setcancelstate(HOLD, nil)
      make(stat)
      ffi.C.pthread_setcancelstate(RELEASE, nil)
   end
end

-- Requests, or rows of a load.
local function each_role(client, act)
   if client.load.began > 0 then act("load", client.load, 0) end
   for index, name in ipairs(memory.OPERATIONS) do
      local role = client.operations[index - 1]
      if role.began > 0 then act(name, role, client.seconds[index - 1]) end
   end
end

local INTERVAL = '{"report": "client", "client": %d, "second": %.3f, "interval": %.3f, "operations": %.0f, '
   .. '"longest": %.6f, "retries": %.0f}\n'

-- What was reported is in the shared memory: the last report is made by another thread, with a Lua of its own.
local function of_client(number, client, second, length)
   local count, retries, longest = 0, 0, 0
   each_role(client, function(_, role)
      count, retries, longest = count + role.count, retries + role.retries, math.max(longest, role.longest_lately)
      role.longest_lately = 0
   end)
   local line = INTERVAL:format(number, second, length, count - client.reported, longest,
      retries - client.retries_reported)
   client.reported, client.retries_reported = count, retries
   return line
end

local function interval(stat)
   local block, lines, second = memory.block(), {}, stat.time_total
   local length = second - block.reported_until
   if length <= 0 then return end
   block.reported_until = second
   for number = 0, sysbench.opt.clients - 1 do
      lines[#lines + 1] = of_client(number, block.clients[number], second, length)
   end
   report.write(table.concat(lines))
end

local function buckets(role)
   local parts = {}
   for index = 0, 1023 do
      if role.buckets[index] > 0 then parts[#parts + 1] = ("[%d, %.0f]"):format(index, role.buckets[index]) end
   end
   return table.concat(parts, ", ")
end

local ROLE = '{"report": "role", "client": %d, "operation": "%s", "count": %.0f, "retries": %.0f, "began": %.6f, '
   .. '"ended": %.6f, "longest": %.6f, "seconds": %.6f, "buckets": [%s]}\n'
local GRAPH = '{"report": "graph", "client": %d, "nodes": %.0f, "links": %.0f, "counts": %.0f, "deleted": %.0f, '
   .. '"history": %.0f}\n'
local END = '{"report": "end", "seconds": %.6f, "failed": %d}\n'

local function total(stat)
   local block, lines = memory.block(), {}
   interval(stat)
   for number = 0, sysbench.opt.clients - 1 do
      local client = block.clients[number]
      each_role(client, function(name, role, seconds)
         local ended = role.ended > 0 and role.ended or clock.seconds()
         lines[#lines + 1] = ROLE:format(number, name, role.count, role.retries, role.began, ended, role.longest,
            seconds, buckets(role))
      end)
      lines[#lines + 1] = GRAPH:format(number, client.nodes, client.links, client.counts, client.deleted,
         client.history)
   end
   lines[#lines + 1] = END:format(stat.time_total, block.failed)
   report.write(table.concat(lines))
end

sysbench.hooks.report_intermediate = whole(interval)
sysbench.hooks.report_cumulative = whole(total)

return report
