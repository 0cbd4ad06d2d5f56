import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseDatabaseUrl } from "../../src/postgres/address.ts";

const PLAIN = { user: "app", password: undefined, database: "store", tls: "off", caFile: undefined };

suite("a DATABASE_URL", () => {
  for (const [url, expected] of [
    ["postgres://app@db.internal/store", { ...PLAIN, hosts: [{ host: "db.internal", port: 5432 }] }],
    [
      "postgresql://app:p%40ss%2Fword@10.0.0.1:6432,[fd00::2]:5433,standby/store?sslmode=verify-full&sslrootcert=/etc/ca.pem",
      {
        ...PLAIN,
        password: "p@ss/word",
        hosts: [
          { host: "10.0.0.1", port: 6432 },
          { host: "fd00::2", port: 5433 },
          { host: "standby", port: 5432 },
        ],
        tls: "verified",
        caFile: "/etc/ca.pem",
      },
    ],
    ["postgres://app@/store?host=/run/postgresql", { ...PLAIN, hosts: [{ host: "/run/postgresql", port: 5432 }] }],
    ["postgres://app@%2Frun%2Fpostgresql:6432/store", { ...PLAIN, hosts: [{ host: "/run/postgresql", port: 6432 }] }],
    [
      "postgres://store@h?sslmode=no-verify",
      { ...PLAIN, user: "store", hosts: [{ host: "h", port: 5432 }], tls: "encrypted" },
    ],
  ] as const) {
    test(`${url} is read`, () => assert.deepEqual(parseDatabaseUrl(url), expected));
  }

  for (const [url, found] of [
    ["mysql://app@h/store", "is no PostgreSQL URL"],
    ["postgres://app:secret@h/store#fragment", "is no PostgreSQL URL"],
    ["postgres://h/store", "names no user"],
    ["postgres://app@/store", "has a malformed host"],
    ["postgres://app@h:99999/store", "has a malformed host"],
    ["postgres://app@h,/store", "has a malformed host"],
    ["postgres://app:100%@h/store", "has a percent sign that encodes nothing"],
    ["postgres://app@h/store?sslmode=allow", "has an unknown sslmode"],
    ["postgres://app@h/store?sslrootcert=ca.pem", "has sslrootcert without a verified connection"],
    ["postgres://app@h/store?options=-c", "has an unknown parameter"],
    ["postgres://app@h/store?sslmode=verify-full&sslmode=disable", "has a parameter twice"],
    ["postgres://app:top@secret@h/store", "has a malformed host"],
    ["postgres://app:top/secret@h/store", "has a malformed host"],
    ["postgres://app:top?secret@h/store", "has an unknown parameter"],
    ["postgres://app@[fd00::2/store", "has a malformed host"],
    ["postgres://app@h/store?host=", "has a malformed host"],
    ["postgres://app:sec%00ret@h/store", "has a zero byte"],
    ["postgres://app@h/two words", "is no PostgreSQL URL"],
  ] as const) {
    test(`${url} ${found}, and the error has no part of it`, () => {
      const fault = parseDatabaseUrl(url);
      assert.ok("remedy" in fault);
      assert.equal(fault.found, found);
      assert.doesNotMatch(fault.remedy, /secret|100%@/);
    });
  }
});
