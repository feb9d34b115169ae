-- Random ids and tables. A thread has its own generator, seeded by its number: sysbench's own is seeded in the order in
-- which the threads happen to start, and lacks a distribution or two.

local random, floor, log = math.random, math.floor, math.log
local ids = {}

local ROUNDS = 12  -- numbers whose mean is nearly normal
local HOT_WIDTH, HOT_SHARE = 0.01, 0.75  -- of `special`: 1 % of the ids get 75 % of the operations
local PARETO = log(0.2) / log(0.8)
local THREADS = 65536  -- more than there are

-- After Hoermann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions" (1996).
local EXPONENT = 0.8
local REST = 1 - EXPONENT

local function area(x)
   return (x ^ REST - 1) / REST
end

local function area_inverse(y)
   return (1 + y * REST) ^ (1 / REST)
end

local function zipfian(count)
   local first, last = area(1.5) - 1, area(count + 0.5)
   local sure = 2 - area_inverse(area(2.5) - 2 ^ -EXPONENT)
   return function()
      while true do
         local y = last + random() * (first - last)
         local x = area_inverse(y)
         local k = floor(x + 0.5)
         if k < 1 then k = 1 elseif k > count then k = count end
         if k - x <= sure or y >= area(k + 0.5) - k ^ -EXPONENT then
            return k
         end
      end
   end
end

local function mean()
   local sum = 0
   for _ = 1, ROUNDS do
      sum = sum + random()
   end
   return sum / ROUNDS
end

local distributions = {
   zipfian = zipfian,

   uniform = function(count)
      return function() return random(count) end
   end,

   gaussian = function(count)
      return function() return floor(mean() * count) + 1 end
   end,

   pareto = function(count)
      return function() return floor(random() ^ PARETO * count) + 1 end
   end,

   special = function(count)
      return function()
         local at = random() < HOT_SHARE and 0.5 + (random() - 0.5) * HOT_WIDTH or mean()
         return floor(at * count) + 1
      end
   end,
}

-- From here on the thread's numbers are those of its number and the seed.
function ids.begin(thread)
   local seed = sysbench.opt.rand_seed
   math.randomseed((seed == 0 and os.time() or seed) * THREADS + thread)
end

-- A function that gives an id of 1 to the number of rows.
function ids.chooser()
   local found = distributions[sysbench.opt.distribution]
   assert(found, "there is no distribution " .. sysbench.opt.distribution)
   return found(sysbench.opt.table_size)
end

return ids
