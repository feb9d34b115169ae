-- Random letters, of 64 that any server takes in any encoding.

local ffi = require("ffi")
local bit = require("bit")
local band, rshift = bit.band, bit.rshift
local letters = ffi.new("char[64]", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
local random_letters = {SPARE = 15}

local function five(at, word)
   at[0], at[1], at[2] = letters[band(word, 63)], letters[band(rshift(word, 6), 63)], letters[band(rshift(word, 12), 63)]
   at[3], at[4] = letters[band(rshift(word, 18), 63)], letters[band(rshift(word, 24), 63)]
end

-- What it writes beyond the length, less than SPARE bytes, is written over by what follows.
function random_letters.write(at, length, stream)
   for index = 0, length - 1, 15 do
      local a, b, c = stream.words()
      five(at + index, a)
      five(at + index + 5, b)
      five(at + index + 10, c)
   end
end

return random_letters
