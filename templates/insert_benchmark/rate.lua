-- So many rows in each second of the clock, at its beginning. A second that is too short for its rows is longer, and the
-- next one begins late: that time is lost, and not made up for.

local ffi = require("ffi")
local clock = require("clock")
local C, floor, min = ffi.C, math.floor, math.min
local ABSOLUTE, MONOTONIC, LONGEST = 1, 1, 0.5  -- seconds of a sleep: then it looks whether the step has failed

ffi.cdef "int clock_nanosleep(int clock, int flags, const struct stepgrid_time *until, struct stepgrid_time *left);"

local at = ffi.new("struct stepgrid_time")

local function sleep_until(moment, block)
   repeat
      if block.run.failed ~= 0 then return end
      local until_ = min(moment, clock.seconds() + LONGEST)
      at.seconds = floor(until_)
      at.nanoseconds = floor((until_ - floor(until_)) * 1e9)
      C.clock_nanosleep(MONOTONIC, ABSOLUTE, at, nil)
   until clock.seconds() >= moment
end

-- Two functions: how many rows may be inserted now, at most `most`, which waits where there are none; and one that
-- waits until the second is over.
return function(rate, began, ends, block)
   if rate == 0 then
      return function(most) return most end, function() end
   end
   local start, left = began, rate
   local function rest() sleep_until(min(start + 1, ends), block) end
   return function(most)
      if left == 0 then
         local late = clock.seconds() > start + 1
         if not late then rest() end
         if block.run.failed ~= 0 or clock.seconds() >= ends then return 0 end
         start, left = late and clock.seconds() or start + 1, rate
      end
      local rows = min(most, left)
      left = left - rows
      return rows
   end, rest
end
