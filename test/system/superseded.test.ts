import { after } from "node:test";
import { supersededSuite } from "../contract/superseded-session.ts";
import { startServer } from "../helpers/server.ts";

const server = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
after(() => server[Symbol.asyncDispose]());

supersededSuite("the embedded store", async () => server);
