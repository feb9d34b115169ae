-- Statements with a list of random ids: `sql` has %s for the table and for the list.

local ids, statements = require("ids"), require("statements")
local random, execute = math.random, statements.execute

return function(sql, count, ...)
   local tables, choose = sysbench.opt.tables, ids.chooser()
   local numbers = statements.numbers(count)
   local values, last = numbers.buffer, count - 1
   local each = string.format(sql, "%d", statements.marks(count))
   local parameters = {...}
   parameters[#parameters + 1] = numbers
   local queries = statements.each_table(each, unpack(parameters))
   return function()
      for index = 0, last do
         values[index] = choose()
      end
      execute(queries[random(tables)])
   end
end
