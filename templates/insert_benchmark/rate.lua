-- So many rows in each second of the clock, at its beginning. What a second could not take is lost, not made up for.

local ffi = require("ffi")
local clock = require("clock")
local C, floor, min = ffi.C, math.floor, math.min
local ABSOLUTE, MONOTONIC, LONGEST = 1, 1, 0.5  -- seconds of a sleep: then it looks whether the step has failed

ffi.cdef "int clock_nanosleep(int clock, int flags, const struct stepgrid_time *until, struct stepgrid_time *left);"

local at = ffi.new("struct stepgrid_time")

local function sleep_until(moment, block)
   repeat
      if block.failed ~= 0 then return end
      local until_ = min(moment, clock.seconds() + LONGEST)
      at.seconds = floor(until_)
      at.nanoseconds = floor((until_ - floor(until_)) * 1e9)
      C.clock_nanosleep(MONOTONIC, ABSOLUTE, at, nil)
   until clock.seconds() >= moment
end

-- Two functions: how many rows may be inserted now, at most `most`, which waits where there are none; and one that
-- waits until the second is over.
return function(rate, began, block)
   if rate == 0 then
      return function(most) return most end, function() end
   end
   local second, left = -1, 0
   return function(most)
      local now = floor(clock.seconds() - began)
      while now == second and left == 0 do
         sleep_until(began + second + 1, block)
         if block.failed ~= 0 then return 0 end
         now = floor(clock.seconds() - began)
      end
      if now > second then
         second, left = now, rate
      end
      local rows = min(most, left)
      left = left - rows
      return rows
   end, function() sleep_until(began + second + 1, block) end
end
