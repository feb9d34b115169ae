-- Which operation comes next, by the percentages of the mix.

local memory = require("client_memory")

-- `text`: getnode:43.9,addnode:2.6,…
return function(text, stream)
   local known, parts, total = {}, {}, 0
   for index, name in ipairs(memory.OPERATIONS) do known[name] = index - 1 end
   for name, percent in text:gmatch("(%a+):([%d.e-]+)") do
      total = total + tonumber(percent)
      parts[#parts + 1] = {name = name, index = known[name], limit = total}
   end
   return function()
      local chosen = stream.uniform() * total
      for _, part in ipairs(parts) do
         if chosen < part.limit then return part end
      end
      return parts[#parts]
   end
end
