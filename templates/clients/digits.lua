-- Whole numbers as so many digits, with zeros on the left, written into a buffer: no Lua string for each of them.

local ffi = require("ffi")
local copy, floor = ffi.copy, math.floor
local digits = {}

local three = ffi.new("char[?]", 4001)  -- the digits of 000 to 999: few, so that a processor's cache keeps them
for number = 0, 999 do
   copy(three + 4 * number, string.format("0%03d", number), 4)
end

local function up_to_four(at, number, count)
   if count > 3 then
      local high = floor(number / 1000)
      at[0], number, count, at = 48 + high, number - 1000 * high, 3, at + 1
   end
   copy(at, three + 4 * number + 4 - count, count)
end

-- Up to eight digits.
local function few(at, number, count)
   if count > 4 then
      local high = floor(number / 10000)
      up_to_four(at, high, count - 4)
      up_to_four(at + count - 4, number - high * 10000, 4)
   else
      up_to_four(at, number, count)
   end
end

digits.few = few

-- Up to sixteen.
function digits.many(at, number, count)
   if count <= 8 then return few(at, number, count) end
   local high = floor(number / 1e8)
   few(at, high, count - 8)
   few(at + count - 8, number - high * 1e8, 8)
end

return digits
