-- The random choices that TPC-C prescribes: numbers that are not uniform, names of customers.

local ffi = require("ffi")
local bor, min = require("bit").bor, math.min
local draws = {}

-- The constants C are the same in every run; the two of names are as far apart as the specification wants them.
local NAMES = {load = 60, run = 147}
local CUSTOMER, ITEM = 259, 4099

local function non_uniform(stream, constant, most, count)
   return (bor(stream.below(most + 1), stream.below(count)) + constant) % count
end

function draws.customer(stream, customers) return 1 + non_uniform(stream, CUSTOMER, 1023, customers) end
function draws.item(stream, items) return 1 + non_uniform(stream, ITEM, 8191, items) end

-- The number of a name, of those that a district of so many customers has.
function draws.name(stream, phase, customers)
   return non_uniform(stream, NAMES[phase], 255, min(1000, customers))
end

-- From `low` to `high`.
function draws.between(stream, low, high) return low + stream.below(high - low + 1) end

local SYLLABLES = {[0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}
draws.names = {}
for number = 0, 999 do
   local text = SYLLABLES[math.floor(number / 100)] .. SYLLABLES[math.floor(number / 10) % 10] .. SYLLABLES[number % 10]
   draws.names[number] = {at = ffi.new("char[?]", #text + 1, text), length = #text, text = text}
end

return draws
