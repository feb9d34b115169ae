-- Which column is asked, and what is asked for: by --index and --covered.

local columns = {}

function columns.asked()
   return sysbench.opt.index == "si" and "k" or "id"
end

function columns.answer()
   return sysbench.opt.covered and columns.asked() or columns.asked() .. ", c"
end

return columns
