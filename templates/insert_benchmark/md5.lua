-- MD5 of a text (RFC 1321): its first 32 bits, which every server can give of a row as well.

local bit = require("bit")
local ffi = require("ffi")
local band, bor, bxor, bnot, rol, tobit, bswap = bit.band, bit.bor, bit.bxor, bit.bnot, bit.rol, bit.tobit, bit.bswap
local SHIFTS = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}
local WORD = 2 ^ 32

local sines, shifts, places = ffi.new("int32_t[64]"), ffi.new("int32_t[64]"), ffi.new("int32_t[64]")
for index = 0, 63 do
   local round = math.floor(index / 16)
   sines[index] = tobit(math.floor(math.abs(math.sin(index + 1)) * WORD))
   shifts[index] = SHIFTS[round + 1][index % 4 + 1]
   places[index] = ({index, 5 * index + 1, 3 * index + 5, 7 * index})[round + 1] % 16
end

local function mixed(round, b, c, d)
   if round == 0 then return bor(band(b, c), band(bnot(b), d)) end
   if round == 1 then return bor(band(d, b), band(bnot(d), c)) end
   if round == 2 then return bxor(b, c, d) end
   return bxor(c, bor(b, bnot(d)))
end

local function block(words, a, b, c, d)
   local a0, b0, c0, d0 = a, b, c, d
   for index = 0, 63 do
      local sum = tobit(a + mixed(math.floor(index / 16), b, c, d) + sines[index] + words[places[index]])
      a, d, c, b = d, c, b, tobit(b + rol(sum, shifts[index]))
   end
   return tobit(a0 + a), tobit(b0 + b), tobit(c0 + c), tobit(d0 + d)
end

-- 0 to 2^32 - 1.
return function(text)
   local size = math.floor((#text + 8) / 64) * 64 + 64
   local bytes = ffi.new("uint8_t[?]", size)
   ffi.copy(bytes, text, #text)
   bytes[#text] = 0x80
   local words = ffi.cast("int32_t *", bytes)
   words[size / 4 - 2] = #text * 8
   local a, b, c, d = 0x67452301, tobit(0xefcdab89), tobit(0x98badcfe), 0x10325476
   for at = 0, size / 4 - 16, 16 do
      a, b, c, d = block(words + at, a, b, c, d)
   end
   return bswap(a) % WORD
end
