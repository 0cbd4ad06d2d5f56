# An app that only the logged-in user reaches. Set the names and the app's address.
# authserve needs PUBLIC_URL=https://auth.example.com, COOKIE_DOMAIN=example.com and TRUSTED_PROXIES=127.0.0.1,::1. Its own host
# is in Caddyfile.
app.example.com {
	# Without route, Caddy would remove the headers after authserve has set them.
	route {
		# Some apps take Remote_User for Remote-User, so all such names of a client are removed.
		request_header -Remote*
		forward_auth 127.0.0.1:3000 {
			uri /auth/verify/redirect
			header_up -X-Original-*
			copy_headers Remote-User Remote-Email
		}
		reverse_proxy 127.0.0.1:8080 {
			# Caddy removes headers that a client names in Connection. These two are set after that.
			header_up Remote-User {header.Remote-User}
			header_up Remote-Email {header.Remote-Email}
		}
	}
}
