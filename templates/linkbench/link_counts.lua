-- How many links each id has when the graph is loaded: a function of its rank, so that requests know it, too.

local permutation = require("permutation")
local floor, ceil, log, exp, min, max = math.floor, math.ceil, math.log, math.exp, math.min, math.max

-- Links of an id, and the percentage of all ids that have more: measured where LinkBench was made, and published with
-- it. Between two of them the logarithms are on a line.
local MORE = {
   {1, 20.253}, {2, 9.4868}, {3, 5.5645}, {4, 4.3166}, {5, 3.5959}, {6, 3.069}, {7, 2.7298}, {8, 2.4377}, {9, 2.2097},
   {10, 1.9014}, {15, 1.3589}, {20, 1.0657}, {30, 0.75927}, {50, 0.48699}, {70, 0.34838}, {100, 0.25312},
   {150, 0.17861}, {200, 0.14047}, {300, 0.099776}, {500, 0.064786}, {700, 0.048332}, {1000, 0.034515},
   {1500, 0.021915}, {2000, 0.015827}, {3000, 0.0097549}, {5000, 0.0051295}, {7000, 0.0032824}, {10000, 0.0020227},
   {15000, 0.0010993}, {20000, 0.00073926}, {30000, 0.00042}, {50000, 0.00020047}, {100000, 6.3971e-5},
   {200000, 2.343e-5}, {500000, 8.2636e-6}, {1000000, 4.861e-6}, {4181357, 9.72e-8},
}
local ORDER = 0.618034  -- of the ids by their links

-- Of the id that this share of all ids have more links than.
local function quantile(share)
   local percent, low, high = share * 100, 0, #MORE
   while high - low > 1 do
      local middle = floor((low + high) / 2)
      if MORE[middle][2] > percent then low = middle else high = middle end
   end
   if low == 0 then return 1 end
   if high == #MORE and MORE[high][2] > percent then return MORE[high][1] end
   local links, more, next_links, next_more = MORE[low][1], MORE[low][2], MORE[high][1], MORE[high][2]
   return ceil(exp(log(links) + log(more / percent) / log(more / next_more) * log(next_links / links)) - 1e-9)
end

-- `of(id)`: its links of one type; each type has as many, and one at least.
return function(ids, types)
   local order = permutation(ids, ORDER)
   local counts = {order = order, quantile = quantile}

   function counts.of(id)
      return min(ids, floor(max(quantile((order.rank(id) + 0.5) / ids), types) / types))
   end

   -- What the link of that ordinal, from 0 on, leads to: a node that there is.
   function counts.target(id, ordinal)
      return (id - 1 + ordinal) % ids + 1
   end

   return counts
end
