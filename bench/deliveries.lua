-- wrk plays a corpus, a line a delivery, each once. RATE: deliveries a second over all connections; without it, as fast as they are answered.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } moment;
  int clock_gettime(int clock, moment *at);
]]
local MONOTONIC = 1
local at = ffi.new("moment")
local rate = tonumber(os.getenv("RATE") or "0")
local corpus, played, paced, startedAt
local headers = { ["Content-Type"] = "application/json" }

local function now()
  ffi.C.clock_gettime(MONOTONIC, at)
  return tonumber(at.seconds) * 1000 + tonumber(at.nanoseconds) / 1e6
end

function init()
  corpus = assert(io.open(os.getenv("CORPUS")))
  played, paced = 0, 0
end

function request()
  local line = corpus:read("*l")
  if line == nil then error("the corpus is too short for this run: " .. played .. " deliveries") end
  played = played + 1
  local signature, id, body = line:match("^([^\t]+)\t([^\t]+)\t(.+)$")
  headers["X-Signature"] = signature
  headers["X-Request-ID"] = id
  return wrk.format("POST", nil, headers, body)
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
