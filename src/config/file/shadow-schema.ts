import * as v from "valibot";
import { NAME } from "../../lib/name.ts";
import { key, listOf, NAME_EXPECTATION, textLike } from "./fields.ts";
import { JsonPath } from "./when.ts";

/** What makes a route a shadow. */
export const ShadowSchema = v.strictObject(
  {
    of: v.pipe(
      textLike(NAME, NAME_EXPECTATION),
      v.description("The route whose events it gets, and whose answers its own are compared with."),
    ),
    ignore: key(
      listOf(JsonPath, "path"),
      "Paths of members of JSON answers that may differ. `*` stands for any one member or item.",
    ),
  },
  "expected a map with of",
);
