-- The columns of rows as text of an INSERT, each with a comma behind it, written into a buffer.

local ffi = require("ffi")
local batch, random_letters, draws = require("row_batch"), require("random_letters"), require("draws")
local copy, floor = ffi.copy, math.floor
local text = {number = batch.number}

function text.constant(at, words)
   copy(at, words, #words)
   at[#words] = 44
   return at + #words + 1
end

function text.quoted(at, words)
   at[0] = 39  -- '
   copy(at + 1, words, #words)
   at[#words + 1], at[#words + 2] = 39, 44
   return at + #words + 3
end

-- Of `low` to `high` letters.
function text.letters(at, low, high, stream)
   local count = draws.between(stream, low, high)
   at[0] = 39
   random_letters.write(at + 1, count, stream)
   at[count + 1], at[count + 2] = 39, 44
   return at + count + 3
end

-- One of ten has a certain word somewhere in it.
local ORIGINAL = "ORIGINAL"
function text.data(at, low, high, stream)
   local behind = text.letters(at, low, high, stream)
   if stream.below(10) == 0 then
      copy(at + 1 + stream.below(behind - at - 2 - #ORIGINAL), ORIGINAL, #ORIGINAL)
   end
   return behind
end

function text.money(at, cents)
   at = batch.number(at, floor(cents / 100))
   cents = cents % 100
   at[-1], at[0], at[1], at[2] = 46, 48 + floor(cents / 10), 48 + cents % 10, 44
   return at + 3
end

-- Of ten thousandths, below 1.
function text.fraction(at, parts)
   local behind = batch.number(at, 10000 + parts)
   at[0] = 46  -- . in place of the 1
   return behind
end

function text.address(at, stream)
   for _ = 1, 3 do at = text.letters(at, 10, 20, stream) end
   at = text.letters(at, 2, 2, stream)
   return text.constant(at, ("'%04d11111'"):format(stream.below(10000)))
end

return text
