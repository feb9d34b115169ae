-- Words that follow from a seed, a client and the ordinal of a row: the same row is the same on every server, whoever
-- inserts it when. After the mixing steps of Bob Jenkins' lookup3.

local bit = require("bit")
local band, bxor, rol, tobit, rshift = bit.band, bit.bxor, bit.rol, bit.tobit, bit.rshift
local WORD = 2 ^ 32
local floor = math.floor

local function mixed(a, b, c)
   c = tobit(bxor(c, b) - rol(b, 14))
   a = tobit(bxor(a, c) - rol(c, 11))
   b = tobit(bxor(b, a) - rol(a, 25))
   c = tobit(bxor(c, b) - rol(b, 16))
   a = tobit(bxor(a, c) - rol(c, 4))
   b = tobit(bxor(b, a) - rol(a, 14))
   c = tobit(bxor(c, b) - rol(b, 24))
   return a, b, c
end

local words = {}

-- Three words of 32 bits for each of two calls: what numbers a row has, and what its text is.
function words.begin(seed, client, ordinal)
   local high = floor(ordinal / WORD)
   return mixed(tobit(seed), tobit(client + high * 65536 + 0x5bd1e995), tobit(ordinal - high * WORD))
end

function words.next(a, b, c)
   return mixed(tobit(a + 0x3c6ef372), tobit(b + 0x1b873593), tobit(c + 0x7f4a7c15))
end

-- 0 to count - 1; of a count far below 2^32.
function words.below(word, count)
   return floor((rshift(word, 16) * 65536 + band(word, 65535)) * (count / WORD))
end

words.shift = rshift
return words
