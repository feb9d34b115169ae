-- A step that keeps a rate: the clients of its kind, whose operations have a moment at which each is to begin. Latency
-- counts from that moment, also while an operation waits for a client; what the server takes is counted beside it.
--
-- All clients take the next operation from one schedule. Each client of the insert benchmark that inserts has its own.

local ffi = require("ffi")
local clock, shared, sender = require("clock"), require("shared_memory"), require("sender")
local schedule = require("schedule")
local C, floor, log, min = ffi.C, math.floor, math.log, math.min
local READ_WRITE, SHARED_ANONYMOUS, ABSOLUTE, MONOTONIC, TIMER_SLACK = 3, 0x21, 1, 1, 29
local LONGEST = 0.5  -- seconds of a sleep: then it looks whether the step has failed
local NAME, DONE = "STEPGRID_OPEN_LOOP", "the schedule is done"

ffi.cdef [[
typedef struct {
   stepgrid_role role;       /* of what the server took */
   double seconds;
   double left;              /* operations of a schedule of its own that it did not begin */
   double number;            /* of the thread */
} stepgrid_service;
typedef struct {
   stepgrid_semaphore lock;
   double number, count;     /* operations that clients have taken; what the schedule counts up to there */
   stepgrid_service threads[?];
} stepgrid_open_loop;
int sem_wait(stepgrid_semaphore *semaphore);
int prctl(int option, unsigned long value, unsigned long, unsigned long, unsigned long);
int clock_nanosleep(int clock, int flags, const struct stepgrid_time *until, struct stepgrid_time *left);
]]

local STRUCT = "stepgrid_open_loop"
local state, mine, began, take

local function make(threads)
   local memory = C.mmap(nil, ffi.sizeof(STRUCT, threads), READ_WRITE, SHARED_ANONYMOUS, -1, 0)
   assert(ffi.cast("intptr_t", memory) ~= -1, "no memory for the schedule")
   C.setenv(NAME, ("%.0f"):format(tonumber(ffi.cast("intptr_t", memory))), 1)
   state = ffi.cast(STRUCT .. " *", memory)
   C.sem_init(state.lock, 1, 1)
end

local function read_points()
   if sysbench.opt.points ~= "" then return sysbench.opt.points end
   local file = assert(io.open("schedule.txt"))
   local points = file:read("*a")
   file:close()
   return points
end

-- The seconds after the start at which the next operation of all clients is to begin; nothing where none is left.
local function shared_schedule()
   local opt = sysbench.opt
   local seconds_of = schedule.seconds_of(read_points())
   local gap, length = schedule.gaps(opt.arrivals, opt.rand_seed), opt.schedule_seconds
   return function()
      C.sem_wait(state.lock)
      local count = state.count + gap(state.number)
      local due = seconds_of(count)
      if due < length then state.number, state.count = state.number + 1, count end
      C.sem_post(state.lock)
      return due < length and due or nil
   end
end

local at = ffi.new("struct stepgrid_time")

local function sleep_until(moment, run)
   while run.failed == 0 do
      local now = clock.seconds()
      if now >= moment then return end
      local until_ = min(moment, now + LONGEST)
      at.seconds = floor(until_)
      at.nanoseconds = floor((until_ - floor(until_)) * 1e9)
      C.clock_nanosleep(MONOTONIC, ABSOLUTE, at, nil)
   end
end

local SCALE = 32 / log(2)  -- buckets as those of sender.lua

local function record(role, took)
   if took > role.longest then role.longest = took end
   if took > role.longest_lately then role.longest_lately = took end
   local bucket = took > 1e-6 and min(1023, floor(log(took * 1e6) * SCALE)) or 0
   role.buckets[bucket] = role.buckets[bucket] + 1
end

local timed = sender.timed

-- Sends what was due at that moment.
local function send_due(connection, postgres, role, moment, send, what)
   local service, sent = mine.role, clock.seconds()
   local retries = service.retries
   timed(connection, postgres, service, send, what)
   local now = clock.seconds()
   role.retries = role.retries + service.retries - retries
   service.count, mine.seconds = service.count + 1, mine.seconds + now - sent
   record(role, now - moment)
   role.ended = now
   return now - moment
end

-- Waits for the next operation's moment.
local function next_moment()
   local due = take()
   if due == nil then error(DONE, 0) end
   sleep_until(began + due, shared.run())
   return began + due
end

function sender.operation(connection, postgres, client, index, send, what)
   local role, moment = client.operations[index], next_moment()
   if role.began == 0 then role.began = clock.seconds() end
   client.seconds[index] = client.seconds[index] + send_due(connection, postgres, role, moment, send, what)
   role.count = role.count + 1
end

-- The insert benchmark, where inserts and queries may each have a rate; deletes follow the inserts.

local insert_moment, has_queries

function sender.timed(connection, postgres, role, send, what)
   if insert_moment then
      send_due(connection, postgres, role, insert_moment, send, what)
   elseif has_queries then
      send_due(connection, postgres, role, next_moment(), send, what)
   else
      timed(connection, postgres, role, send, what)
   end
end

-- In place of rate.lua: so many rows at a time, at moments of their own; or its own way, without the time that only
-- serves to end what is late.
local function batches(rate, client_began, ends, block)
   local opt, number, count = sysbench.opt, 0, 0
   local rows, gap = min(opt.rows_per_commit, rate), schedule.gaps(opt.arrivals, opt.rand_seed + mine.number)
   local last = ends - opt.schedule_grace
   local function move_on()
      count, number = count + gap(number), number + 1
      insert_moment = client_began + count * rows / rate
   end
   return function(most)
      move_on()
      sleep_until(min(insert_moment, last), block.run)
      if insert_moment < last and clock.seconds() < ends then return min(most, rows) end
      while insert_moment < last do
         mine.left = mine.left + 1
         move_on()
      end
      return 0
   end, function() end
end

local function role_of(thread)
   local names, index = {}, floor(thread / sysbench.opt.clients) + 1
   for name in (sysbench.opt.roles or ""):gmatch("%a+") do names[#names + 1] = name end
   return names[index] or ""
end

local SERVICE = '{"report": "service", "operation": "%s", "count": %.0f, "left": %.0f, "seconds": %.6f, "longest": %.6f, '
   .. '"buckets": [%s]}\n'
local SCHEDULE = '{"report": "schedule", "asked": %.0f, "left": %.0f, "length": %.0f}\n'

local function lines(report)
   local parts = {}
   for thread = 0, sysbench.opt.threads - 2 do
      local service = state.threads[thread]
      if service.role.count + service.left > 0 then
         parts[#parts + 1] = SERVICE:format(role_of(thread), service.role.count, service.left, service.seconds,
            service.role.longest, report.buckets(service.role))
      end
   end
   if sysbench.opt.schedule_seconds > 0 then
      local taken = state.number
      local more = shared_schedule()
      while more() do end
      parts[#parts + 1] = SCHEDULE:format(state.number, state.number - taken, sysbench.opt.schedule_seconds)
   end
   return table.concat(parts)
end

-- `kind`: the script of the kind; `module`: that of its action.
return function(kind, module)
   require(kind)
   local options, kind_init, kind_thread_init = sysbench.cmdline.options, init, thread_init
   options.arrivals = {"even or poisson", "even"}
   options.points = {"a rate that does not change; else schedule.txt has it", ""}
   options.schedule_seconds = {"how long operations of a schedule begin; 0: there is none", 0}
   options.schedule_grace = {"seconds after these, for operations that are late", 0}
   options.insert_arrivals = {"inserts have moments of their own", false}

   function init()
      make(sysbench.opt.threads)
      kind_init()
   end

   function thread_init(thread)
      state = ffi.cast(STRUCT .. " *", ffi.cast("intptr_t", tonumber(os.getenv(NAME))))
      mine = state.threads[thread]
      mine.number = thread
      C.prctl(TIMER_SLACK, 1, 0, 0, 0)
      local opt, role = sysbench.opt, role_of(thread)
      local is_rated = opt.schedule_seconds > 0 and (role == "" or role == "query")
      if is_rated then take = shared_schedule() end
      has_queries = is_rated and role == "query"
      if kind == "insert_benchmark" then
         local by_seconds = require("rate")
         package.loaded["rate"] = opt.insert_arrivals and batches or function(rate, client_began, ends, block)
            return by_seconds(rate, client_began, ends - opt.schedule_grace, block)
         end
      end
      local action, report_lines, report = require(module), require("report_lines"), require("client_report")
      local event, total = action.event, report_lines.total
      -- The loops of clients end when the time is over: here when the schedule is done.
      function action.event()
         began = shared.run().began
         local fine, ended = pcall(event)
         if not fine and ended ~= DONE then error(ended, 0) end
         return not fine or ended
      end
      function report_lines.total(number)
         return total(number) .. (number == 0 and lines(report) or "")
      end
      kind_thread_init(thread)
   end
end
