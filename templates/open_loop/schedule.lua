-- When operations are to begin: a rate over time, and arrivals that are even or random.
--
-- `points` is text, `second:rate` by commas: between two of them the rate changes evenly, two of one second are a step,
-- and the last one holds. drivers/open_loop.py writes it, and has the same schedule in Python.

local random_stream = require("random_stream")
local floor, log, max, sqrt, huge = math.floor, math.log, math.max, math.sqrt, math.huge
local PURPOSE = 77  -- of the random numbers

local function pieces_of(points)
   local pieces = {}
   for second, rate in points:gmatch("([%d.]+):([%d.]+)") do
      second, rate = tonumber(second), tonumber(rate)
      local last = pieces[#pieces]
      if last then
         last.slope = second > last.second and (rate - last.rate) / (second - last.second) or 0
         last.area = (second - last.second) * (last.rate + rate) / 2
      end
      pieces[#pieces + 1] = {second = second, rate = rate, slope = 0, area = huge}
   end
   return pieces
end

local schedule = {}

-- Gives the second at which so many operations were to have begun; each call has no fewer than the one before.
function schedule.seconds_of(points)
   local pieces, index, before = pieces_of(points), 1, 0
   return function(count)
      while count >= before + pieces[index].area do
         before, index = before + pieces[index].area, index + 1
      end
      local piece, rest = pieces[index], count - before
      if piece.rate == 0 and piece.slope == 0 then return huge end
      if rest == 0 then return piece.second end
      return piece.second + 2 * rest / (piece.rate + sqrt(max(0, piece.rate * piece.rate + 2 * piece.slope * rest)))
   end
end

-- Gives how many operations after the one before the next one comes, from its number, from 0 on.
function schedule.gaps(arrivals, seed)
   if arrivals ~= "poisson" then
      return function(number) return number > 0 and 1 or 0 end
   end
   local stream = random_stream(seed, PURPOSE)
   return function(number)
      stream.begin(floor(number))
      return -log(1 - stream.uniform())
   end
end

return schedule
