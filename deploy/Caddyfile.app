# An app that only the logged-in user reaches. Append this to /etc/caddy/Caddyfile. Set the names and the app's address.
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
		# As forward_auth does, which would drop the renewed cookie. Then only pages, and no requests of scripts, would keep the session.
		reverse_proxy 127.0.0.1:3000 {
			method GET
			rewrite /auth/verify/redirect
			header_up X-Forwarded-Method {method}
			header_up X-Forwarded-Uri {uri}
			header_up -Upgrade
			@renewed {
				status 200
				header Set-Cookie *
			}
			handle_response @renewed {
				request_header Remote-User {rp.header.Remote-User}
				request_header Remote-Email {rp.header.Remote-Email}
				request_header Remote-Token {rp.header.Remote-Token}
				header +Set-Cookie {rp.header.Set-Cookie}
			}
			@passed status 200
			handle_response @passed {
				request_header Remote-User {rp.header.Remote-User}
				request_header Remote-Email {rp.header.Remote-Email}
				request_header Remote-Token {rp.header.Remote-Token}
			}
		}
		# The token of a program is for authserve. An app could use it elsewhere.
		@program header_regexp Remote-Token .+
		request_header @program -Authorization
		reverse_proxy 127.0.0.1:8080 {
			# Caddy removes headers that a client names in Connection. These are set after that.
			header_up Remote-User {header.Remote-User}
			header_up Remote-Email {header.Remote-Email}
			header_up Remote-Token {header.Remote-Token}
		}
	}
}
