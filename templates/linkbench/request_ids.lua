-- Which ids requests are for, by what they do.

local zipf, permutation, link_counts = require("zipf"), require("permutation"), require("link_counts")
local floor, log = math.floor, math.log

-- Orders of popularity: that of reads and writes of links has nothing to do with how many links there are, but for
-- the small part that follows it; nodes have one of their own.
local LINKS, NODES = 0.414214, 0.732051

return function(opt, block, stream)
   local ids = block.ids
   local counts = link_counts(ids, block.link_types)
   local by_links, by_others, of_nodes = counts.order, permutation(ids, LINKS), permutation(ids, NODES)

   local function blended(exponent, uncorrelated)
      local rank = zipf(ids, exponent)
      return function()
         local order = stream.uniform() * 100 < uncorrelated and by_others or by_links
         return order.id(rank(stream))
      end
   end

   local function ranked(exponent)
      local rank = zipf(ids, exponent)
      return function() return of_nodes.id(rank(stream)) end
   end

   local found = {
      link_read = blended(opt.read_exponent, opt.read_uncorrelated),
      link_write = blended(opt.write_exponent, opt.write_uncorrelated),
      node_read = ranked(opt.node_read_exponent),
      node_update = ranked(opt.node_update_exponent),
      node_delete = function() return stream.below(ids) + 1 end,
   }

   -- A link that was loaded, with that probability; else to any node.
   function found.target(id, existing)
      if stream.uniform() < existing then return counts.target(id, stream.below(counts.of(id))) end
      return stream.below(ids) + 1
   end

   -- How many links a getlink asks for: geometric, from 1 on.
   function found.multiget()
      local count = 1 + floor(log(1 - stream.uniform()) / log(1 - opt.multiget_probability))
      return count < opt.multiget_most and count or opt.multiget_most
   end

   return found
end
