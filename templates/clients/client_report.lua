-- What the clients have done, as lines of JSON in report.jsonl: of each client for each second, and all of it at the end.
--
-- A thread of the client writes them: sysbench's own reports would merge histograms every second that nobody reads.

local clock, shared, processor_time = require("clock"), require("shared_memory"), require("processor_time")
local report = {}

function report.write(text)
   local file = assert(io.open("report.jsonl", "a"))
   file:write(text)
   file:close()
end

function report.buckets(role)
   local parts = {}
   for index = 0, 1023 do
      if role.buckets[index] > 0 then parts[#parts + 1] = ("[%d, %.0f]"):format(index, role.buckets[index]) end
   end
   return table.concat(parts, ", ")
end

local END = '{"report": "end", "seconds": %.6f, "started": %.6f, "failed": %d, "user": %.6f, "system": %.6f}\n'

local function lines(of_client, ...)
   local found = {}
   for number = 0, sysbench.opt.clients - 1 do
      found[#found + 1] = of_client(number, ...)
   end
   return table.concat(found)
end

-- Until so many threads have ended, or one has failed. `report_lines` is the module of the kind: the lines of a client
-- for an interval and at the end; how late in each second it reports, or nothing where a step has no rates.
function report.run(threads)
   local kind, run, reported, left = require("report_lines"), shared.run(), 0, threads
   local began = run.began
   local due = began + 1 + kind.late()
   local user, system = processor_time()

   local function interval()
      local second = clock.seconds() - began
      if second > reported then report.write(lines(kind.interval, second, second - reported)) end
      reported = second
   end

   while left > 0 and run.failed == 0 do
      if shared.wait(run.ended, due - clock.seconds()) then
         left = left - 1
      elseif clock.seconds() >= due then
         interval()
         due = due + math.max(1, math.ceil(clock.seconds() - due))
      end
   end
   interval()
   local user_now, system_now = processor_time()
   report.write(lines(kind.total)
      .. END:format(reported, run.started, run.failed, user_now - user, system_now - system))
   return true
end

return report
