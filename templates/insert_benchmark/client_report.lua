-- What the clients have done, as lines of JSON in report.jsonl: of each client for each second, and all of it at the end.

local ffi = require("ffi")
local clock, shared = require("clock"), require("shared_memory")
local HOLD, RELEASE = 1, 0
local ROLES = {{"insert", "insert"}, {"delete", "remove"}, {"query", "query"}}
local PLURALS = {insert = "inserts", delete = "deletes", query = "queries"}
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

local function each_role(client, act)
   for _, names in ipairs(ROLES) do
      local role = client[names[2]]
      if role.began > 0 then act(names[1], role) end
   end
end

-- Roles that a step does not have are left out. What was reported is in the shared memory: the last report is made by
-- another thread, with a Lua of its own.
local function of_client(number, client, second, interval)
   local parts, again = {}, 0
   each_role(client, function(name, role)
      local count, retries = role.count, role.retries
      parts[#parts + 1] = (', "%s": %.0f'):format(PLURALS[name], count - role.reported)
      parts[#parts + 1] = (', "max_%s": %.6f'):format(name, role.longest_lately)
      again = again + retries - role.retries_reported
      role.reported, role.retries_reported, role.longest_lately = count, retries, 0
   end)
   return ('{"report": "client", "client": %d, "second": %.3f, "interval": %.3f%s, "retries": %.0f}\n'):format(
      number, second, interval, table.concat(parts), again)
end

local function interval(second)
   local block, lines = shared.block(), {}
   local length = second - block.reported_until
   if length <= 0 then return end
   block.reported_until = second
   for number = 0, sysbench.opt.clients - 1 do
      lines[#lines + 1] = of_client(number, block.clients[number], second, length)
   end
   report.write(table.concat(lines))
end

-- Rows of a rate come when a second begins: a report at that moment has those of two seconds, or of none. Late in it,
-- the first one, which is of that much more than a second, has hardly more of them than the others.
local LATE = 0.8

local function each_second(stat)
   local began, block = clock.seconds(), shared.block()
   while sysbench.opt.insert_rate > 0 and clock.seconds() < began + LATE do
      if not shared.inserting(block) or block.failed ~= 0 then return end  -- the last report has the rest
      ffi.C.usleep(50000)
   end
   interval(stat.time_total + clock.seconds() - began)
end

local function buckets(role)
   local parts = {}
   for index = 0, 1023 do
      if role.buckets[index] > 0 then parts[#parts + 1] = ("[%d, %.0f]"):format(index, role.buckets[index]) end
   end
   return table.concat(parts, ", ")
end

local ROLE = '{"report": "role", "client": %d, "operation": "%s", "count": %.0f, "retries": %.0f, "began": %.6f, '
   .. '"ended": %.6f, "longest": %.6f, "resyncs": %.0f, "resync_seconds": %.6f, "buckets": [%s]}\n'

local function of_roles(number, client, lines)
   each_role(client, function(name, role)
      local ended = role.ended > 0 and role.ended or clock.seconds()
      lines[#lines + 1] = ROLE:format(number, name, role.count, role.retries, role.began, ended, role.longest,
         role.resyncs, role.resync_seconds, buckets(role))
   end)
end

local PROGRESS = '{"report": "progress", "client": %d, "inserted": %.0f, "deleted": %.0f}\n'

local function total(stat)
   local block, lines = shared.block(), {}
   interval(stat.time_total)
   for number = 0, sysbench.opt.clients - 1 do
      local client = block.clients[number]
      of_roles(number, client, lines)
      lines[#lines + 1] = PROGRESS:format(number, client.ordinal, client.deleted)
   end
   local text = '{"report": "end", "seconds": %.6f, "started": %.6f, "failed": %d}\n'
   lines[#lines + 1] = text:format(stat.time_total, block.started, block.failed)
   report.write(table.concat(lines))
end

sysbench.hooks.report_intermediate = whole(each_second)
sysbench.hooks.report_cumulative = whole(total)

return report
