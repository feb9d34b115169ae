-- Seconds of the processor that all threads of this process have used.

local ffi = require("ffi")
local SELF = 0

ffi.cdef [[
struct stepgrid_usage { long user[2], system[2], others[14]; };
int getrusage(int whose, struct stepgrid_usage *usage);
]]

local usage = ffi.new("struct stepgrid_usage")

local function seconds(part)
   return tonumber(part[0]) + tonumber(part[1]) / 1e6
end

-- By the program, and by the kernel for it.
return function()
   ffi.C.getrusage(SELF, usage)
   return seconds(usage.user), seconds(usage.system)
end
