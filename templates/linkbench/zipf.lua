-- Ranks by Zipf's law: rank N, from 0 on, has a probability in proportion to (N + 1) ^ -exponent.
--
-- By rejection-inversion (Hörmann and Derflinger, 1996): exact, without a sum over all ranks.

local floor = math.floor

return function(count, exponent)
   local power = 1 - exponent  -- exponents are below 1
   local function area(x) return (x ^ power - 1) / power end
   local function inverse(y) return (1 + y * power) ^ (1 / power) end
   local first, last = area(1.5) - 1, area(count + 0.5)
   local sure = 2 - inverse(area(2.5) - 2 ^ -exponent)

   -- Nothing where it is rejected.
   local function draw(stream)
      local y = last + stream.uniform() * (first - last)
      local x = inverse(y)
      local rank = floor(x + 0.5)
      if rank < 1 then rank = 1 elseif rank > count then rank = count end
      if rank - x <= sure or y >= area(rank + 0.5) - rank ^ -exponent then return rank - 1 end
   end

   return function(stream)
      local rank = draw(stream)
      if rank then return rank end  -- nearly always: LuaJIT compiles no loop that ends at once
      repeat rank = draw(stream) until rank
      return rank
   end
end
