import * as v from "valibot";
import type { Source } from "../../webhook/source.ts";
import { integer } from "../fields.ts";
import { key, keyOr, numberOrText, textLike } from "./fields.ts";
import { map } from "./shape.ts";

const mediaType = textLike(/^[\w.+-]+\/[\w.+-]+(?:; ?charset=[\w-]+)?$/, "expected a media type, e.g. text/xml");

/** The answer of a source to a stored delivery. Some statuses allow no body. */
export const AnswerSchema = map(
  {
    status: keyOr(numberOrText(integer(200, 299)), 200, "The status, 200 to 299."),
    type: keyOr(mediaType, "text/plain", "The media type of the body."),
    body: key(v.string("expected a text"), "The body. Default: empty."),
  },
  "expected a map such as { status: 204 }",
  {
    read: ({ status, type, body: text = "" }, reading): NonNullable<Source["acknowledgement"]> | null =>
      text !== "" && (status === 204 || status === 205)
        ? reading.fault("found a map, expected no body beside status 204 or 205")
        : { status, type, text },
  },
);
