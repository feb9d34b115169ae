-- The data of nodes and links: random letters, or a part of a text that is always the same, so that it compresses.
--
-- The published generator draws bytes: 69 values for links, 171 for nodes. Here all are letters, which any server takes
-- in any encoding; the share of random text is larger, so that a byte holds as much information.

local ffi = require("ffi")
local random_stream, random_letters = require("random_stream"), require("random_letters")
local floor, exp, log, min = math.floor, math.exp, math.log, math.min
local copy, write_letters = ffi.copy, random_letters.write

local CHUNK, MOTIF = 128, 512
local BITS = 6  -- of a letter
local data = {
   SPARE = random_letters.SPARE,
   LINK = {random = 0.225 * log(69) / log(2) / BITS, most = 255},
   NODE = {random = 0.63 * log(171) / log(2) / BITS, most = 1024 * 1024},
}

local motif = ffi.new("char[?]", MOTIF + data.SPARE)
write_letters(motif, MOTIF, random_stream(20160119, 0))

-- A log-normal size, of that median.
function data.size(median, kind, stream)
   local size = floor(median * exp(stream.normal()) + 0.5)
   return size < kind.most and size or kind.most - 1
end

local function write_chunk(at, length, kind, stream)
   if stream.uniform() < kind.random then
      write_letters(at, length, stream)
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
