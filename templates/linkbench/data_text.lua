-- The data of nodes and links: random letters, or a part of a text that is always the same, so that it compresses.
--
-- The published generator draws bytes: 69 values for links, 171 for nodes. Here all are letters, which any server takes
-- in any encoding; the share of random text is larger, so that a byte holds as much information.

local ffi = require("ffi")
local bit = require("bit")
local random_stream = require("random_stream")
local floor, exp, log, min = math.floor, math.exp, math.log, math.min
local copy, band, rshift = ffi.copy, bit.band, bit.rshift

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local CHUNK, MOTIF = 128, 512
local BITS = 6  -- of a letter
local letters = ffi.new("char[64]", ALPHABET)
local data = {
   SPARE = 15,
   LINK = {random = 0.225 * log(69) / log(2) / BITS, most = 255},
   NODE = {random = 0.63 * log(171) / log(2) / BITS, most = 1024 * 1024},
}

local function five(at, word)
   at[0], at[1], at[2] = letters[band(word, 63)], letters[band(rshift(word, 6), 63)], letters[band(rshift(word, 12), 63)]
   at[3], at[4] = letters[band(rshift(word, 18), 63)], letters[band(rshift(word, 24), 63)]
end

-- What it writes beyond the length, less than SPARE bytes, is written over by what follows.
local function random_letters(at, length, stream)
   for index = 0, length - 1, 15 do
      local a, b, c = stream.words()
      five(at + index, a)
      five(at + index + 5, b)
      five(at + index + 10, c)
   end
end

local motif = ffi.new("char[?]", MOTIF + data.SPARE)
random_letters(motif, MOTIF, random_stream(20160119, 0))

-- A log-normal size, of that median.
function data.size(median, kind, stream)
   local size = floor(median * exp(stream.normal()) + 0.5)
   return size < kind.most and size or kind.most - 1
end

local function write_chunk(at, length, kind, stream)
   if stream.uniform() < kind.random then
      random_letters(at, length, stream)
   else
      copy(at, motif + stream.below(MOTIF - length + 1), length)
   end
end

-- To a place that has SPARE bytes more.
function data.write(at, length, kind, stream)
   write_chunk(at, min(CHUNK, length), kind, stream)
   if length > CHUNK then
      for begin = CHUNK, length - 1, CHUNK do
         write_chunk(at + begin, min(CHUNK, length - begin), kind, stream)
      end
   end
   return at + length
end

return data
