-- Seconds that pass, not those of the processor.

local ffi = require("ffi")
local MONOTONIC = 1

ffi.cdef [[
struct stepgrid_time { long seconds; long nanoseconds; };
int clock_gettime(int clock, struct stepgrid_time *now);
]]

local clock, now = {}, ffi.new("struct stepgrid_time")

function clock.seconds()
   ffi.C.clock_gettime(MONOTONIC, now)
   return tonumber(now.seconds) + tonumber(now.nanoseconds) / 1e9
end

return clock
