import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { AddressListError, parseAddressList, readListFile } from "../../../src/webhook/addresses/address-lists.ts";
import { workingDir } from "../../helpers/working-dir.ts";

// Shortened: https://docs.github.com/en/rest/meta/meta
const GITHUB = {
  verifiable_password_authentication: false,
  hooks: ["192.30.252.0/22", "2a0a:a440::/29"],
  web: ["140.82.112.0/20"],
};
// https://docs.stripe.com/ips
const STRIPE = { WEBHOOKS: ["3.18.12.63", "3.130.192.231"] };
// https://ip-ranges.atlassian.com/
const ATLASSIAN = {
  creationDate: "2026-01-01T00:00:00.000000",
  items: [
    { network: "104.192.136.0", mask_len: 21, cidr: "104.192.136.0/21", mask: "255.255.248.0", product: ["bitbucket"] },
    {
      network: "2401:1d80:3000::",
      mask_len: 36,
      cidr: "2401:1d80:3000::/36",
      mask: "ffff:ffff:f000::",
      product: ["jira"],
    },
  ],
};

suite("the addresses of a list", () => {
  for (const [what, text, member, addresses] of [
    ["the member of a document", JSON.stringify(GITHUB), "hooks", ["192.30.252.0/22", "2a0a:a440::/29"]],
    ["a document", JSON.stringify(STRIPE), "", ["3.130.192.231", "3.18.12.63"]],
    ["each item of a list", JSON.stringify(ATLASSIAN), "items.cidr", ["104.192.136.0/21", "2401:1d80:3000::/36"]],
    ["a nested member", '{"a":{"b":["192.0.2.1"]},"b":["192.0.2.2"]}', "a.b", ["192.0.2.1"]],
    [
      "lines",
      "\uFEFF# webhooks\r\n192.0.2.1 # first\r\n\r\n2001:db8::/32\r\n192.0.2.1\n",
      "",
      ["192.0.2.1", "2001:db8::/32"],
    ],
  ] as const) {
    test(`are those of ${what}`, () => assert.deepEqual(parseAddressList(text, member), addresses));
  }

  for (const [what, text, member, fault] of [
    ["an empty list", "# none\n", "", /^has no address or range$/],
    ["a document without one", '{"hooks":[]}', "", /^has no address or range$/],
    ["a document without the member", JSON.stringify(GITHUB), "Hooks", /^has no address or range at Hooks$/],
    ["a page of an error", "<html>\n", "", /^has neither an address nor a range in line 1$/],
    ["a line with a name", "192.0.2.1\nexample.com\n", "", /in line 2$/],
    ["a cut document", '{"hooks":["192.0.2.1"', "hooks", /^is not JSON$/],
    ["text in place of a document", "192.0.2.1\n", "hooks", /^is not JSON$/],
    ["a cut range", "192.0.2.0/24\n192.0.2.0/2", "", /^has 192\.0\.2\.0\/2, which is too wide$/],
    ["every address", '["::/0"]', "", /^has ::\/0, which is too wide$/],
    ["deep nesting", "[".repeat(100) + "]".repeat(100), "", /nested/],
  ] as const) {
    test(`cannot be those of ${what}`, () => {
      assert.throws(
        () => parseAddressList(text, member),
        (error) => error instanceof AddressListError && fault.test(error.message),
      );
    });
  }

  test("cannot be those of a file that is missing, too large or a directory", () => {
    const dir = workingDir();
    mkdirSync(join(dir, "folder"));
    writeFileSync(join(dir, "large"), Buffer.alloc(8 * 1024 * 1024 + 1, "#"));
    assert.throws(() => readListFile(join(dir, "none")), /^.*cannot be read \(ENOENT\)$/m);
    assert.throws(() => readListFile(join(dir, "large")), /exceeds 8 MiB$/m);
    assert.throws(() => readListFile(join(dir, "folder")), /is not a file$/m);
  });
});
