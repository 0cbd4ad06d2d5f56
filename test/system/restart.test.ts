import { restartSuite } from "../contract/restart.ts";

restartSuite("SQLite", { envOf: async () => ({}), listsShort: true });
