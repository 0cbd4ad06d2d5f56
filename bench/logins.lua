-- Plays one login over and over; prints how many were answered 200, how many otherwise, and the time in microseconds.
wrk.method = "POST"
wrk.body = os.getenv("LOGIN_BODY")
wrk.headers["Content-Type"] = "application/json"

function done(summary)
  local errors = summary.errors
  local refused = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("LOGINS %d %d %d", summary.requests - errors.status, refused, summary.duration))
end
