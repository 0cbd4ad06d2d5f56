-- /etc/haproxy/haproxy-authserve.lua. Asks authserve whether a request may pass. haproxy-app.cfg uses it.
-- `http-request lua.authserve URL` sets the variables below. Write the address in the URL as an IP address: HAProxy resolves
-- names only with a section `resolvers default`.
--   txn.authserve_status: 200 lets the request pass, 302 and 303 redirect it, 401 and 403 refuse it. 503 means no valid answer.
--   txn.authserve_user, txn.authserve_email, txn.authserve_name, txn.authserve_groups, txn.authserve_token,
--   txn.authserve_credential, txn.authserve_location, txn.authserve_challenge, txn.authserve_cookie: headers of the answer, or empty.

local PASSED_ON = {
  "cookie", "authorization", "x-authserve-token", "accept", "user-agent", "x-requested-with", "sec-fetch-mode",
  "sec-fetch-dest", "sec-fetch-site",
  "x-forwarded-proto", "x-forwarded-host", "x-forwarded-uri", "x-forwarded-method", "x-forwarded-for",
}
local ANSWERS = { [200] = true, [302] = true, [303] = true, [401] = true, [403] = true }
-- Of each try. HAProxy tries four times.
local TIMEOUT_MS = 2500

core.register_action("authserve", { "http-req" }, function(txn, url)
  local received = txn.http:req_get_headers()
  local headers = {}
  for _, name in ipairs(PASSED_ON) do
    headers[name] = received[name]
  end

  local answer = core.httpclient():get({ url = url, headers = headers, timeout = TIMEOUT_MS }) or {}
  local function header(name)
    -- HAProxy counts the values of a header from 0.
    local values = answer.headers and answer.headers[name]
    return values and values[0] or ""
  end

  txn:set_var("txn.authserve_status", ANSWERS[answer.status] and answer.status or 503)
  txn:set_var("txn.authserve_user", header("remote-user"))
  txn:set_var("txn.authserve_email", header("remote-email"))
  txn:set_var("txn.authserve_name", header("remote-name"))
  txn:set_var("txn.authserve_groups", header("remote-groups"))
  txn:set_var("txn.authserve_token", header("remote-token"))
  txn:set_var("txn.authserve_credential", header("remote-credential"))
  txn:set_var("txn.authserve_challenge", header("www-authenticate"))
  txn:set_var("txn.authserve_location", header("location"))
  txn:set_var("txn.authserve_cookie", answer.status == 200 and header("set-cookie") or "")
end, 1)
