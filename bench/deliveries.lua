-- wrk plays a corpus, each delivery once, from line START on; at the end it stops sending new ones.
local sigs, ids, bodies, n, i = {}, {}, {}, 0, 0
local bad = 0
function init(args)
  local skip, from = 0, tonumber(os.getenv("START") or "0")
  for line in io.lines(os.getenv("CORPUS")) do
    skip = skip + 1
    if skip > from then
      local s, id, b = line:match("^([^\t]+)\t([^\t]+)\t(.+)$")
      if s then n = n + 1; sigs[n] = s; ids[n] = id; bodies[n] = b end
      if n >= tonumber(os.getenv("COUNT") or "400000") then break end
    end
  end
end
function request()
  i = i % n + 1
  return wrk.format("POST", nil, { ["Content-Type"] = "application/json", ["X-Signature"] = sigs[i], ["X-Request-ID"] = ids[i] }, bodies[i])
end
function done(summary, latency, requests)
  io.write(string.format("\nRESULT %d %d %d %d %d %d\n", summary.requests, summary.duration, summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout, latency:percentile(50), latency:percentile(99), latency.max))
end
