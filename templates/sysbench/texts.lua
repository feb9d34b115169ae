-- The texts of a row: groups of eleven random digits with dashes between them, written into a buffer.

local ffi = require("ffi")
local random, copy = math.random, ffi.copy
local texts = {C = 10, PAD = 5}  -- groups

local GROUP = 12
local four = ffi.new("char[?]", 40000 + 1)  -- the digits of 0000 to 9999
for number = 0, 9999 do
   copy(four + 4 * number, string.format("%04d", number), 4)
end

function texts.length(groups)
   return groups * GROUP - 1
end

-- A buffer with the dashes in it, and the zero that ends a text.
function texts.buffer(groups)
   local made = ffi.new("char[?]", groups * GROUP)
   ffi.fill(made, texts.length(groups), string.byte("-"))
   return made
end

function texts.fill(buffer, groups)
   for group = 0, groups - 1 do
      local at = buffer + group * GROUP
      copy(at, four + 4 * random(0, 9999), 4)
      copy(at + 4, four + 4 * random(0, 9999), 4)
      copy(at + 8, four + 4 * random(0, 999) + 1, 3)
   end
end

return texts
