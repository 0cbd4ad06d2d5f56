import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readRetentionOf } from "../../../src/config/file/config-file.ts";
import { ConfigFileError } from "../../../src/config/file/errors.ts";
import { DEFAULT_RETENTION } from "../../../src/events/retention.ts";
import { dir, faults, read } from "../../helpers/config-file.ts";

const DAY = 86_400_000;
const none = { count: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

suite("retention in the configuration file", () => {
  test("has defaults, all of them or those of missing keys", () => {
    assert.deepEqual(read("{}")?.retention, DEFAULT_RETENTION);
    assert.deepEqual(read("retention: {}")?.retention, DEFAULT_RETENTION);
    assert.deepEqual(read("retention: { ids: 1d }")?.retention, { ...DEFAULT_RETENTION, idsMs: DAY });
  });

  test("is read by age, by number and by bytes", () => {
    const text = "{ processed: 0s, failed: { for: 400d, count: 1000, bytes: 2g }, ids: 36500d, maxBytes: 20g }";
    assert.deepEqual(read(`retention: ${text}`)?.retention, {
      processed: { forMs: 0, ...none },
      failed: { forMs: 400 * DAY, count: 1000, bytes: 2 * 1024 ** 3 },
      idsMs: 36_500 * DAY,
      maxBytes: 20 * 1024 ** 3,
    });
    const keep = read("retention: { processed: { count: 0 } }")?.retention.processed;
    assert.deepEqual(keep, { ...DEFAULT_RETENTION.processed, count: 0 });
  });

  test("is refused with the place and the remedy of each fault", () => {
    assert.deepEqual(faults("retention: 30d"), [
      '1:12 retention: found "30d", expected a map such as { processed: 30d }',
    ]);
    const period = "expected a duration of at least 0ms and at most 36500d, e.g. 30d";
    assert.deepEqual(
      faults(
        "retention:\n  processed: soon\n  failed: { for: 1w, count: -1, byte: 1g }\n  id: 1d\n  ids: 30\n  maxBytes: lots\n",
      ),
      [
        `2:14 retention.processed: found "soon", ${period}`,
        `3:18 retention.failed.for: found "1w", ${period}`,
        "3:29 retention.failed.count: found -1, expected a whole number",
        "3:33 retention.failed.byte: unknown key, expected one of for, count, bytes (did you mean bytes?)",
        "4:3 retention.id: unknown key, expected one of processed, failed, ids, maxBytes (did you mean ids?)",
        `5:8 retention.ids: found 30, ${period}`,
        '6:13 retention.maxBytes: found "lots", expected a size from 0 to 1000000g, e.g. 1g',
      ],
    );
  });

  test("is read alone, without the secrets of the file", () => {
    const yaml = "sources:\n  shop: { preset: github, secrets: [env:NOT_SET] }\nretention: { processed: 1d }\n";
    assert.equal(faults(yaml).length, 1);
    const CONFIG_FILE = join(dir, "authserve.yaml");
    assert.equal(readRetentionOf({ CONFIG_FILE }).processed.forMs, DAY);
    writeFileSync(CONFIG_FILE, "retention: { processed: soon }");
    assert.throws(() => readRetentionOf({ CONFIG_FILE }), ConfigFileError);
    assert.deepEqual(readRetentionOf({}), DEFAULT_RETENTION);
  });
});
