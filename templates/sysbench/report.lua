-- What sysbench counted, exact and by name: a line of JSON for each interval and one for the end in report.jsonl,
-- beside the text that people know.

local ffi = require("ffi")
local COUNTS = {"events", "reads", "writes", "other", "errors", "reconnects"}
local LATENCIES = {"latency_min", "latency_avg", "latency_max", "latency_sum"}
local HOLD, RELEASE = 1, 0
local loading = false

ffi.cdef "int pthread_setcancelstate(int state, int *old);"

local function line(what, stat, seconds)
   local parts = {string.format('"report": "%s"', what), string.format('"percentile": %d', sysbench.opt.percentile)}
   for _, name in ipairs(COUNTS) do
      parts[#parts + 1] = string.format('"%s": %.0f', name, stat[name])
   end
   for _, name in ipairs(seconds) do
      parts[#parts + 1] = string.format('"%s": %.9f', name, stat[name])
   end
   if loading then
      parts[#parts + 1] = string.format('"batch": %.0f', math.min(sysbench.opt.batch, sysbench.opt.table_size))
   end
   return "{" .. table.concat(parts, ", ") .. "}\n"
end

local function write(text)
   local file = assert(io.open("report.jsonl", "a"))
   file:write(text)
   file:close()
end

local function per_second(count, stat)
   return string.format("%-6.0f (%.2f per sec.)", count, count / stat.time_interval)
end

-- sysbench ends its reporting thread when the run ends, also in the middle of a line.
local function whole(report)
   return function(stat)
      ffi.C.pthread_setcancelstate(HOLD, nil)
      report(stat)
      ffi.C.pthread_setcancelstate(RELEASE, nil)
   end
end

local report = {}

-- A write is a statement of many rows.
function report.of_load()
   loading = true
end

-- Of a table that a client has loaded.
function report.loaded(client, rows, inserting, indexing)
   local text = '{"report": "loaded", "client": %d, "rows": %.0f, "insert_seconds": %.9f, "index_seconds": %.9f}\n'
   write(text:format(client, rows, inserting, indexing))
end

sysbench.hooks.report_intermediate = whole(function(stat)
   write(line("interval", stat, {"time_total", "time_interval", "latency_pct"}))
   local each = stat.time_interval
   print(string.format(
      "[ %.0fs ] thds: %d tps: %.2f qps: %.2f (r/w/o: %.2f/%.2f/%.2f) lat (ms,%d%%): %.2f err/s: %.2f reconn/s: %.2f",
      stat.time_total, stat.threads_running, stat.events / each, (stat.reads + stat.writes + stat.other) / each,
      stat.reads / each, stat.writes / each, stat.other / each, sysbench.opt.percentile, stat.latency_pct * 1000,
      stat.errors / each, stat.reconnects / each))
end)

sysbench.hooks.report_cumulative = whole(function(stat)
   write(line("total", stat, {"time_total", "time_interval", "latency_pct", unpack(LATENCIES)}))
   local queries = stat.reads + stat.writes + stat.other
   local function say(...) print(string.format(...)) end
   say("SQL statistics:\n    queries performed:")
   say("        read:  %.0f\n        write: %.0f\n        other: %.0f\n        total: %.0f", stat.reads, stat.writes,
      stat.other, queries)
   say("    transactions:   %s", per_second(stat.events, stat))
   say("    queries:        %s", per_second(queries, stat))
   say("    ignored errors: %s", per_second(stat.errors, stat))
   say("    reconnects:     %s", per_second(stat.reconnects, stat))
   say("\nGeneral statistics:\n    total time: %.4fs\n    total number of events: %.0f", stat.time_total, stat.events)
   say("\nLatency (ms):\n    min: %.3f\n    avg: %.3f\n    max: %.3f", stat.latency_min * 1000,
      stat.latency_avg * 1000, stat.latency_max * 1000)
   say("    %dth percentile: %.3f\n    sum: %.3f\n", sysbench.opt.percentile, stat.latency_pct * 1000,
      stat.latency_sum * 1000)
end)

return report
