-- The lines of a client in the report: those of its transactions, and what became of some of them.

local TERMINAL = '{"report": "terminal", "client": %d, "rolled_back": %.0f, "skipped": %.0f}\n'

return require("operation_lines")(require("client_memory"), function(number, client)
   return TERMINAL:format(number, client.rolled_back, client.skipped)
end)
