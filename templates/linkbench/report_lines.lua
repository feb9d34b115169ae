-- The lines of a client in the report: those of its operations, and what it did to the graph.

local GRAPH = '{"report": "graph", "client": %d, "nodes": %.0f, "links": %.0f, "counts": %.0f, "deleted": %.0f, '
   .. '"history": %.0f}\n'

return require("operation_lines")(require("client_memory"), function(number, client)
   return GRAPH:format(number, client.nodes, client.links, client.counts, client.deleted, client.history)
end)
