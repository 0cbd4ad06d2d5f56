# An app that only the logged-in user reaches. Set the names and the app's address.
# authserve needs PUBLIC_URL=https://auth.example.com, COOKIE_DOMAIN=example.com and TRUSTED_PROXIES=127.0.0.1,::1. Its own host
# is in Caddyfile.
app.example.com {
	@websocket header_regexp Upgrade (?i)^websocket$
	@other not header_regexp Upgrade (?i)^websocket$
	# Without route, Caddy would remove the headers after authserve has set them.
	route {
		# Apps believe these of a proxy, and some take Remote_User for Remote-User. So all such names of a client are removed.
		request_header -Remote*
		request_header -*Forwarded*
		request_header -X-Original*
		request_header -X_Original*
		# Websockets, and no other protocol: after an upgrade Caddy no longer sees the requests.
		request_header @other -Upgrade
		request_header @websocket Upgrade websocket
		forward_auth 127.0.0.1:3000 {
			uri /auth/verify/redirect
			copy_headers Remote-User Remote-Email
		}
		reverse_proxy 127.0.0.1:8080 {
			# Caddy removes headers that a client names in Connection. These two are set after that.
			header_up Remote-User {header.Remote-User}
			header_up Remote-Email {header.Remote-Email}
		}
	}
}
