-- Which operation comes next, by the percentages of the mix: one draw and no loop, by Walker's alias method.

local memory = require("client_memory")
local floor = math.floor

local function parts_of(text)
   local known, parts, total = {}, {}, 0
   for index, name in ipairs(memory.OPERATIONS) do known[name] = index - 1 end
   for name, percent in text:gmatch("([%a_]+):([%d.e-]+)") do
      total = total + tonumber(percent)
      parts[#parts + 1] = {name = name, index = known[name], percent = tonumber(percent)}
   end
   return parts, total
end

-- Each part has a cell: its own up to a limit, from there on that of another.
local function cells(parts, total)
   local limits, others, small, large = {}, {}, {}, {}
   for index, part in ipairs(parts) do
      limits[index], others[index] = part.percent / total * #parts, index
      table.insert(limits[index] < 1 and small or large, index)
   end
   while #small > 0 and #large > 0 do
      local few, many = table.remove(small), table.remove(large)
      others[few] = many
      limits[many] = limits[many] + limits[few] - 1
      table.insert(limits[many] < 1 and small or large, many)
   end
   for _, index in ipairs(small) do limits[index] = 1 end  -- by rounding
   return limits, others
end

-- `text`: getnode:43.9,addnode:2.6,…
return function(text, stream)
   local parts, total = parts_of(text)
   local limits, others = cells(parts, total)
   local count = #parts
   return function()
      local drawn = stream.uniform() * count
      local index = floor(drawn) + 1
      return parts[drawn - index + 1 < limits[index] and index or others[index]]
   end
end
