-- The data of nodes and links: random letters, or a part of a text that is always the same, so that it compresses.
--
-- The published generator draws bytes: 69 values for links, 171 for nodes. Here all are letters, which any server takes
-- in any encoding; the share of random text is larger, so that a byte holds as much information.

local ffi = require("ffi")
local bit = require("bit")
local random_stream = require("random_stream")
local floor, exp, log, copy, band, rshift = math.floor, math.exp, math.log, ffi.copy, bit.band, bit.rshift

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local CHUNK, MOTIF = 128, 512
local BITS = 6  -- of a letter
local letters = ffi.new("char[64]", ALPHABET)
local data = {
   LINK = {random = 0.225 * log(69) / log(2) / BITS, most = 255},
   NODE = {random = 0.63 * log(171) / log(2) / BITS, most = 1024 * 1024},
}

local function random_letters(at, length, stream)
   local word, left = 0, 0
   for index = 0, length - 1 do
      if left == 0 then word, left = stream.word(), 5 end
      at[index] = letters[band(word, 63)]
      word, left = rshift(word, BITS), left - 1
   end
end

local motif = ffi.new("char[?]", MOTIF)
random_letters(motif, MOTIF, random_stream(20160119, 0))

-- A log-normal size, of that median.
function data.size(median, kind, stream)
   local size = floor(median * exp(stream.normal()) + 0.5)
   return size < kind.most and size or kind.most - 1
end

function data.write(at, length, kind, stream)
   for begin = 0, length - 1, CHUNK do
      local part = math.min(CHUNK, length - begin)
      if stream.uniform() < kind.random then
         random_letters(at + begin, part, stream)
      else
         copy(at + begin, motif + stream.below(MOTIF - part + 1), part)
      end
   end
   return at + length
end

return data
