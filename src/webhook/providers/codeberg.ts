import type { Provider } from "../provider.ts";
import forgejo from "./forgejo.ts";

export default {
  ...forgejo,
  title: "Codeberg (Forgejo)",
  aliasOf: "forgejo",
} satisfies Provider;
