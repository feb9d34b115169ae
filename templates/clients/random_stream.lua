-- Random numbers that follow from a seed, what they are for, and an ordinal: of a node, or of a client.

local words = require("random_words")
local WORD = 2 ^ 32
local floor, log, sqrt, cos, pi = math.floor, math.log, math.sqrt, math.cos, math.pi
local next = words.next

return function(seed, purpose)
   local a, b, c = 0, 0, 0
   local stream = {}

   function stream.begin(ordinal)
      a, b, c = next(words.begin(seed, purpose, ordinal))  -- mixed once, neighbours are alike too often
   end

   -- Three words of 32 bits.
   function stream.words()
      a, b, c = next(a, b, c)
      return a, b, c
   end

   -- From 0 to below 1, of 52 bits.
   function stream.uniform()
      a, b, c = next(a, b, c)
      return (a % WORD * 1048576 + floor(b % WORD / 4096)) / (WORD * 1048576)
   end

   local uniform = stream.uniform

   -- From 0 to count - 1.
   function stream.below(count)
      return floor(uniform() * count)
   end

   function stream.normal()
      return sqrt(-2 * log(1 - uniform())) * cos(2 * pi * uniform())
   end

   stream.begin(0)
   return stream
end
