-- The rows of a list of random ids.

local workload, list = require("workload"), require("list")

function workload.prepare()
   event = list("SELECT c FROM sbtest%s WHERE id IN (%s)", sysbench.opt.range_size)
end

function event() end  -- sysbench looks for it before a thread begins
