-- Random numbers that follow from a seed, what they are for, and an ordinal: of a node, or of a client.

local words = require("random_words")
local WORD = 2 ^ 32
local floor, log, sqrt, cos, pi = math.floor, math.log, math.sqrt, math.cos, math.pi

return function(seed, purpose)
   local a, b, c, left = 0, 0, 0, 0
   local stream = {}

   function stream.begin(ordinal)
      a, b, c = words.next(words.begin(seed, purpose, ordinal))  -- mixed once, neighbours are alike too often
      left = 3
   end

   -- 32 bits.
   function stream.word()
      if left == 0 then
         a, b, c = words.next(a, b, c)
         left = 3
      end
      left = left - 1
      return left == 2 and a or left == 1 and b or c
   end

   -- From 0 to below 1, of 52 bits.
   function stream.uniform()
      local high, low = stream.word() % WORD, stream.word() % WORD
      return (high * 1048576 + floor(low / 4096)) / (WORD * 1048576)
   end

   -- From 0 to count - 1.
   function stream.below(count)
      return floor(stream.uniform() * count)
   end

   function stream.normal()
      return sqrt(-2 * log(1 - stream.uniform())) * cos(2 * pi * stream.uniform())
   end

   stream.begin(0)
   return stream
end
