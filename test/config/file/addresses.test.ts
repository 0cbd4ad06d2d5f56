import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { openAddressCopies } from "../../../src/webhook/addresses/address-lists.ts";
import { dir, faults, faultsOf, read, sourceIn } from "../../helpers/config-file.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const withAddresses = (items: string, more = "") =>
  `{ preset: github, secrets: [env:SECRET], allowedAddresses: [${items}]${more} }`;

suite("allowedAddresses", () => {
  test("takes addresses, ranges, files and URLs", () => {
    writeFileSync(join(dir, "office.txt"), "198.51.100.0/24\n");
    const { allowedAddresses, addressLists = [] } = sourceIn(
      withAddresses('192.0.2.0/24, file:office.txt, "https://api.github.com/meta#hooks"', ", addressRefresh: 5m"),
    );
    assert.equal(allowedAddresses?.check("192.0.2.1"), true);
    assert.equal(allowedAddresses?.check("198.51.100.1"), false);
    assert.deepEqual(
      addressLists.map(({ id, ...list }) => list),
      [
        { name: "file:office.txt", kind: "file", place: join(dir, "office.txt"), member: "", refreshMs: 300_000 },
        {
          name: "https://api.github.com/meta#hooks",
          kind: "url",
          place: "https://api.github.com/meta",
          member: "hooks",
          refreshMs: 300_000,
        },
      ],
    );
    assert.ok(addressLists.every(({ id }) => /^[0-9a-f]{32}$/.test(id)));
  });

  test("does not name the query of a URL, which may have a password", () => {
    const [list] = sourceIn(withAddresses('"https://example.com/list?key=abc#a"')).addressLists ?? [];
    assert.deepEqual([list?.name, list?.place], ["https://example.com/list?…#a", "https://example.com/list?key=abc"]);
  });

  test("takes http of this machine only", () => {
    for (const host of ["127.0.0.1:8080", "localhost", "[::1]"]) {
      assert.equal(sourceIn(withAddresses(`"http://${host}/list"`)).addressLists?.length, 1);
    }
    assert.deepEqual(faultsOf(withAddresses('"http://example.com/list"')), [
      "allowedAddresses.0: found http, by which anybody on the way can change the list, expected https",
    ]);
  });

  for (const [item, fault] of [
    ["example.com", /^allowedAddresses\.0: found "example\.com", expected an address, a range, file:PATH or a URL/],
    ["fe80::1%eth0", /^allowedAddresses\.0: found "fe80::1%eth0", expected an address/],
    ["file:", /^allowedAddresses\.0: found "file:", expected an address/],
    ["https://[/list", /^allowedAddresses\.0: found a URL that is not valid/],
    ["https://user:password@example.com/", /^allowedAddresses\.0: found a URL with a password, expected one without$/],
    ["https://example.com/#%", /^allowedAddresses\.0: found a URL whose fragment is not valid/],
    ["file:none.txt", /^allowedAddresses\.0: found file:none\.txt, which cannot be read \(ENOENT\), expected a list/],
    [
      "file:broken.txt",
      /^allowedAddresses\.0: found file:broken\.txt, which has neither an address nor a range in line 2/,
    ],
    ["file:meta.json#web", /^allowedAddresses\.0: found file:meta\.json#web, which has no address or range at web/],
  ] as const) {
    test(`${item} is refused`, () => {
      writeFileSync(join(dir, "broken.txt"), "192.0.2.1\n<html>\n");
      writeFileSync(join(dir, "meta.json"), '{"hooks":["192.0.2.1"]}');
      const [first = "", ...more] = faultsOf(withAddresses(`"${item}"`));
      assert.match(first, fault);
      assert.deepEqual(more, []);
    });
  }

  test("that has a broken file has the line of the file in the fault", () => {
    const yaml =
      "sources:\n  a:\n    preset: github\n    secrets: [env:SECRET]\n    allowedAddresses:\n      - file:none\n";
    assert.match(faults(yaml).join(), /^6:9 sources\.a\.allowedAddresses\.0: found file:none/);
  });

  test("that has a broken file is accepted with a warning if the last good content was kept", async () => {
    const dataDir = workingDir();
    const place = join(dir, "kept.txt");
    writeFileSync(place, "192.0.2.1\n");
    const yaml = `sources:\n  shop: ${withAddresses("file:kept.txt")}\n`;
    const [list] = read(yaml)?.sources[0]?.addressLists ?? [];
    assert.ok(list);
    await openAddressCopies(dataDir).write(list, { addresses: ["192.0.2.1"] }, 0);
    writeFileSync(place, "");
    assert.match(
      read(yaml, { DATA_DIR: dataDir })?.warnings.join() ?? "",
      /:2:\d+ sources\.shop\.allowedAddresses\.0: file:kept\.txt has no address or range: the last good list stays in use$/,
    );
  });

  test("needs a URL for addressRefresh", () => {
    assert.deepEqual(faultsOf(withAddresses("192.0.2.1", ", addressRefresh: 1h")), [
      "addressRefresh: found without a URL in allowedAddresses, expected one there",
    ]);
    assert.match(
      faultsOf(withAddresses('"https://example.com/"', ", addressRefresh: 1ms")).join(),
      /^addressRefresh: found "1ms", expected a duration of at least 1000ms and at most 24h/,
    );
  });
});
