-- The threads of a client: the last one reports, all others run the action of the step.

local clock, shared, report = require("clock"), require("shared_memory"), require("client_report")

-- `actions`: the module of each action, with init, thread_init, event and done.
return function(actions)
   os.remove("connection")  -- it holds a password, and sysbench has read it by now
   local step, act

   -- Options can be asked for when the script has been read.
   local function chosen()
      step = step or require(assert(actions[sysbench.opt.action], "there is no action " .. sysbench.opt.action))
      return step
   end

   function init() chosen().init() end

   function thread_init(thread)
      local last = sysbench.opt.threads - 1
      if thread < last then chosen().thread_init(thread) end
      act = thread < last and step.event or function() return report.run(last) end
   end

   -- A thread that fails ends the others: those that wait for it in particular.
   function event()
      local run = shared.run()
      if run.began == 0 then run.began = clock.seconds() end
      local fine, ended = pcall(act)
      if not fine then run.failed = 1 end
      if not fine or ended then shared.post(run.ended) end
      if not fine then error(ended, 0) end
      return ended
   end

   function done() chosen().done() end
end
