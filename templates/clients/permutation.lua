-- Which id has which rank: popular ids are spread over the whole table. Without tables, in both directions.

local floor = math.floor
local LARGEST = 2 ^ 21  -- step: ranks of 31 bits times it are exact
local HALF = 65536

local function divisor(a, b)
   while b ~= 0 do a, b = b, a % b end
   return a
end

-- a * b modulo count, of numbers of 31 bits.
local function product(a, b, count)
   local high = floor(a / HALF)
   return (high * b % count * HALF + (a - high * HALF) * b) % count
end

local function inverse_of(step, count)
   local a, b, x, y = step, count, 1, 0
   while b ~= 0 do
      local quotient = floor(a / b)
      a, b, x, y = b, a - quotient * b, y, x - quotient * y
   end
   return x % count
end

-- `fraction`: each has an order of its own. Ranks begin with 0, ids with 1.
return function(count, fraction)
   local step = math.max(1, floor(fraction * math.min(count, LARGEST)))
   while divisor(step, count) ~= 1 do step = step + 1 end
   local inverse, offset = inverse_of(step, count), floor(fraction * count)
   return {
      id = function(rank) return (rank * step + offset) % count + 1 end,
      rank = function(id) return product((id - 1 - offset) % count, inverse, count) end,
   }
end
