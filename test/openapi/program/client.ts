// A program of a stranger: its types are made from the description of a server.

import createClient from "openapi-fetch";
import type { paths } from "./description.ts";

const [baseUrl = "", email = "", password = "", eventId = ""] = process.argv.slice(2);

const withoutSession = createClient<paths>({ baseUrl });
const { accessToken } = dataOf(await withoutSession.POST("/auth/login", { body: { email, password } }));
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${accessToken}` } });

const user = dataOf(await api.GET("/auth/me"));
const status = dataOf(await api.GET("/admin/api/status"));
const sources = dataOf(await api.GET("/admin/api/sources"));
const events = dataOf(await api.GET("/admin/api/events", { params: { query: { status: "processed", limit: 10 } } }));
const event = dataOf(await api.GET("/admin/api/events/{id}", { params: { path: { id: eventId } } }));
const replay = dataOf(await api.POST("/admin/api/events/replay", { body: { ids: [eventId] } }));
const { error } = await withoutSession.GET("/auth/me");

console.log(
  JSON.stringify({
    email: user.email,
    processed: status.events.processed,
    sources: sources.items.map(({ name }) => name),
    events: events.items.map(({ type }) => type),
    routes: event.jobs.map(({ route }) => route),
    refused: replay.refused.map(({ reason }) => reason),
    error: error?.code,
  }),
);

/** The body of an answer. Throws for an error. */
function dataOf<Data>({ data, error }: { data?: Data; error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}
