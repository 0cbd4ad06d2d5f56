-- Plays each line of a corpus once with wrk. SOURCES spreads them over /webhook/s1, /webhook/s2 and so on. RATE is the deliveries per second over all connections; without it, as fast as possible.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } moment;
  int clock_gettime(int clock, moment *at);
]]
local MONOTONIC = 1
local at = ffi.new("moment")
local rate = tonumber(os.getenv("RATE") or "0")
local sources = tonumber(os.getenv("SOURCES") or "0")
local starts, corpus, played, paced, startedAt

local function now()
  ffi.C.clock_gettime(MONOTONIC, at)
  return tonumber(at.seconds) * 1000 + tonumber(at.nanoseconds) / 1e6
end

function init()
  corpus = assert(io.open(os.getenv("CORPUS")))
  played, paced = 0, 0
  starts = {}
  for number = 1, math.max(sources, 1) do
    local path = sources > 0 and "/webhook/s" .. number or wrk.path
    starts[number] = "POST " .. path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\nContent-Type: application/json\r\nX-Signature: "
  end
end

function request()
  local line = corpus:read("*l")
  if line == nil then error("the corpus is too short for this run: " .. played .. " deliveries") end
  played = played + 1
  local afterSignature = line:find("\t", 1, true)
  local afterId = line:find("\t", afterSignature + 1, true)
  -- `wrk.format` and a pattern would cost 2.7 µs more, on cores that the server also uses.
  return starts[played % #starts + 1] .. line:sub(1, afterSignature - 1) .. "\r\nX-Request-ID: " .. line:sub(afterSignature + 1, afterId - 1)
    .. "\r\nContent-Length: " .. #line - afterId .. "\r\n\r\n" .. line:sub(afterId + 1)
end

if rate > 0 then
  function delay()
    startedAt = startedAt or now()
    paced = paced + 1
    return math.max(0, startedAt + paced * 1000 / rate - now())
  end
end

function done(summary, latency)
  local errors = summary.errors
  local refused = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("\nRESULT %d %d %d %d %d %d", summary.requests, summary.duration, refused, latency:percentile(50), latency:percentile(99), latency.max))
end
