import type { Provider } from "../provider.ts";
import teams from "./ms_teams.ts";

export default {
  ...teams,
  title: "Teams (Microsoft Teams)",
  aliasOf: "ms_teams",
} satisfies Provider;
