-- A new row as parameters of an INSERT: k, c and pad.

local ids, statements, texts = require("ids"), require("statements"), require("texts")
local row = {}

function row.new()
   local k, choose = statements.numbers(1), ids.chooser()
   local c, pad = texts.buffer(texts.C), texts.buffer(texts.PAD)
   local made = {k, statements.text(c, texts.length(texts.C)), statements.text(pad, texts.length(texts.PAD))}
   local function fill()
      k.buffer[0] = choose()
      texts.fill(c, texts.C)
      texts.fill(pad, texts.PAD)
   end
   return made, fill
end

return row
