# An app that only the logged-in user reaches. Append this to /etc/caddy/Caddyfile. Set the names and the app's address.
# authserve needs PUBLIC_URL=https://auth.example.com, COOKIE_DOMAIN=example.com and TRUSTED_PROXIES=127.0.0.1,::1. Its own host
# is in Caddyfile.
app.example.com {
	@websocket header_regexp Upgrade (?i)^websocket$
	@other not header_regexp Upgrade (?i)^websocket$
	# Without route, Caddy would remove the headers after authserve has set them.
	route {
		# Apps believe these of a proxy, and some take Remote_User for Remote-User. So all such names of a client are removed.
		request_header -*Remote*
		request_header -*Forwarded*
		request_header -X-Original*
		request_header -X_Original*
		# By these, other products name the user or the client.
		request_header -*Webauth*
		request_header -*Authentik*
		request_header -*Tailscale*
		request_header -*Pomerium*
		request_header -*Vouch*
		request_header -*Real-Ip
		request_header -*Real_Ip
		request_header -*Client-Ip
		request_header -*Client_Ip
		request_header -*Connecting-Ip
		request_header -*Connecting_Ip
		request_header -*Auth-Request*
		request_header -*Auth_Request*
		request_header -*Authenticated-User*
		request_header -*Authenticated_User*
		request_header -*Jwt-Assertion
		request_header -*Jwt_Assertion
		request_header -*Token-Subject
		request_header -*Token_Subject
		request_header -*Token-User*
		request_header -*Token_User*
		request_header -*Amzn-Oidc*
		request_header -*Amzn_Oidc*
		request_header -*Client-Principal*
		request_header -*Client_Principal*
		request_header -*Proxy-User
		request_header -*Proxy_User
		request_header -*Proxy-Roles
		request_header -*Proxy_Roles
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
				request_header Remote-Name {rp.header.Remote-Name}
				request_header Remote-Groups {rp.header.Remote-Groups}
				request_header Remote-Token {rp.header.Remote-Token}
				request_header Remote-Credential {rp.header.Remote-Credential}
				header +Set-Cookie {rp.header.Set-Cookie}
			}
			@passed status 200
			handle_response @passed {
				request_header Remote-User {rp.header.Remote-User}
				request_header Remote-Email {rp.header.Remote-Email}
				request_header Remote-Name {rp.header.Remote-Name}
				request_header Remote-Groups {rp.header.Remote-Groups}
				request_header Remote-Token {rp.header.Remote-Token}
				request_header Remote-Credential {rp.header.Remote-Credential}
			}
		}
		# The token of a program is for authserve, also one without the scope. An app could use it elsewhere.
		@program header_regexp Remote-Credential .+
		request_header @program -Authorization
		request_header -Remote-Credential
		request_header -X-Authserve-Token
		reverse_proxy 127.0.0.1:8080 {
			# Caddy removes headers that a client names in Connection. These are set after that.
			header_up Remote-User {header.Remote-User}
			header_up Remote-Email {header.Remote-Email}
			header_up Remote-Name {header.Remote-Name}
			header_up Remote-Groups {header.Remote-Groups}
			header_up Remote-Token {header.Remote-Token}
			header_up X-Real-IP {remote_host}
		}
	}
}
