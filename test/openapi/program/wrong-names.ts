// Each of these mistakes must be found by the compiler. This file is compiled only.

import createClient from "openapi-fetch";
import type { paths } from "./description.ts";

const api = createClient<paths>();

// @ts-expect-error There is no such path.
await api.GET("/auth/you");

// @ts-expect-error The path has another method.
await api.DELETE("/auth/me");

// @ts-expect-error The member is `email`.
await api.POST("/auth/login", { body: { mail: "user@example.com", password: "a password" } });

// @ts-expect-error A required member is missing.
await api.POST("/auth/login", { body: { email: "user@example.com" } });

// @ts-expect-error The parameter is `status`.
await api.GET("/admin/api/events", { params: { query: { state: "failed" } } });

// @ts-expect-error There is no such status.
await api.GET("/admin/api/events", { params: { query: { status: "done" } } });

const { data, error } = await api.GET("/auth/me");

// @ts-expect-error The member is `email`.
data?.mail;

// @ts-expect-error The operation has no such error.
error?.code === "invalid_credentials";
