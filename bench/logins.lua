-- Repeats one login. Prints the number of 200 responses, of others, and the time in microseconds.
wrk.method = "POST"
wrk.body = os.getenv("LOGIN_BODY")
wrk.headers["Content-Type"] = "application/json"

function done(summary)
  local errors = summary.errors
  local refused = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format("LOGINS %d %d %d", summary.requests - errors.status, refused, summary.duration))
end
