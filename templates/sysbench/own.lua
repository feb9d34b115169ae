-- A file of one's own as a workload: what it declares, and what every workload may be told.

require("workload")
local common, init, done = sysbench.cmdline.options, thread_init, thread_done

return function(name)
   sysbench.cmdline.options, thread_init, thread_done = nil, nil, nil
   dofile(name)
   local declared = sysbench.cmdline.options or {}
   for option, described in pairs(common) do
      declared[option] = declared[option] or described
   end
   sysbench.cmdline.options = declared
   if thread_init == nil then
      thread_init, thread_done = init, thread_done or done
   end
end
