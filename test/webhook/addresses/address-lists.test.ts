import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import {
  type AddressList,
  createAddressLists,
  openAddressCopies,
} from "../../../src/webhook/addresses/address-lists.ts";
import { nextReadMs } from "../../../src/webhook/addresses/followed-documents.ts";
import { recordingLog } from "../../helpers/log.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const FILE = { member: "", refreshMs: 10 };
const url = (id: string, refreshMs = 10): AddressList => ({
  id,
  name: `https://example.com/${id}`,
  kind: "url",
  place: `https://example.com/${id}`,
  member: "",
  refreshMs,
});

/** Lists in a data directory, whose content the test sets. */
function opened(context: TestContext, dataDir = workingDir()) {
  const contents = new Map<string, string | Error>();
  const reads: string[] = [];
  const { log, lines, named } = recordingLog();
  const lists = createAddressLists({
    async read({ id, kind, place }) {
      reads.push(id);
      if (kind === "file") return readFileSync(place, "utf8");
      const content = contents.get(id) ?? new Error("nobody answers");
      if (content instanceof Error) throw content;
      return content;
    },
    copies: openAddressCopies(dataDir),
    log,
    now: () => 1_767_225_600_000,
  });
  context.after(() => lists.stop());
  return { lists, contents, reads, dataDir, lines, named };
}

suite("lists of addresses", () => {
  test("an address is listed if one of the lists has it", async (t) => {
    const { lists, contents } = opened(t);
    const both = [url("a"), url("b")];
    contents.set("a", "192.0.2.0/24").set("b", "2001:db8::/32");
    lists.apply(both);
    await lists.tried(both);
    assert.equal(lists.find(both, "192.0.2.1"), "listed");
    assert.equal(lists.find(both, "2001:db8::1"), "listed");
    assert.equal(lists.find(both, "198.51.100.1"), "not listed");
    assert.equal(lists.find([url("b")], "192.0.2.1"), "not listed");
    assert.equal(lists.find([], "192.0.2.1"), "not listed");
  });

  test("another address is unknown while one of the lists has never been read", async (t) => {
    const { lists, contents, named } = opened(t);
    const both = [url("a"), url("b")];
    contents.set("a", "192.0.2.0/24");
    lists.apply(both);
    await lists.tried(both);
    assert.equal(lists.find(both, "192.0.2.1"), "listed");
    assert.equal(lists.find(both, "198.51.100.1"), "unknown");
    const [line] = named("address_list_error");
    assert.deepEqual([line?.list, line?.error], ["https://example.com/b", "nobody answers"]);
  });

  test("a changed list is used after its time, and logged with its number of addresses", async (t) => {
    const { lists, contents, named } = opened(t);
    contents.set("a", "192.0.2.1");
    lists.apply([url("a")]);
    await until(() => lists.find([url("a")], "192.0.2.1") === "listed");
    contents.set("a", "192.0.2.2\n192.0.2.3");
    await until(() => lists.find([url("a")], "192.0.2.2") === "listed");
    assert.equal(lists.find([url("a")], "192.0.2.1"), "not listed");
    assert.deepEqual(
      named("address_list_changed").map(({ list, count }) => [list, count]),
      [
        ["https://example.com/a", 1],
        ["https://example.com/a", 2],
      ],
    );
  });

  test("a wrong list changes nothing, and is logged once", async (t) => {
    const { lists, contents, reads, named } = opened(t);
    contents.set("a", "192.0.2.1");
    lists.apply([url("a")]);
    await until(() => reads.length > 1);
    contents.set("a", "<html>");
    await until(() => named("address_list_error").length > 0);
    const before = reads.length;
    await until(() => reads.length > before + 1);
    assert.equal(lists.find([url("a")], "192.0.2.1"), "listed");
    assert.equal(named("address_list_error").length, 1);
  });

  test("the last good content is there after a start without the network", async (t) => {
    const first = opened(t);
    first.contents.set("a", "192.0.2.1");
    first.lists.apply([url("a")]);
    await first.lists.tried([url("a")]);
    await first.lists.stop();
    const second = opened(t, first.dataDir);
    second.lists.apply([url("a")]);
    assert.equal(second.lists.find([url("a")], "192.0.2.1"), "listed");
    assert.equal(second.lists.find([url("a")], "192.0.2.2"), "not listed");
  });

  test("a damaged copy counts as none", async (t) => {
    const { lists, dataDir } = opened(t);
    await openAddressCopies(dataDir).write(url("a"), { addresses: ["192.0.2.1"] }, 0);
    writeFileSync(join(dataDir, "address-lists", "a.json"), '{"readAt":"1970-01-01T00:00:00.000Z","addr');
    lists.apply([url("a")]);
    assert.equal(lists.find([url("a")], "192.0.2.1"), "unknown");
  });

  test("a copy has the name, the time and the addresses, and only its owner can read it", async (t) => {
    const { lists, contents, dataDir } = opened(t);
    contents.set("a", "192.0.2.1");
    lists.apply([url("a")]);
    await lists.tried([url("a")]);
    await lists.stop();
    const folder = join(dataDir, "address-lists");
    assert.deepEqual(readdirSync(folder), ["a.json"]);
    assert.deepEqual(JSON.parse(readFileSync(join(folder, "a.json"), "utf8")), {
      list: "https://example.com/a",
      readAt: "2026-01-01T00:00:00.000Z",
      addresses: ["192.0.2.1"],
    });
    assert.equal(statSync(join(folder, "a.json")).mode & 0o777, 0o600);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
  });

  test("a list is used even if its copy cannot be written", async (t) => {
    const { lists, contents, named } = opened(t, "/proc/none");
    contents.set("a", "192.0.2.1");
    lists.apply([url("a")]);
    await lists.tried([url("a")]);
    assert.equal(lists.find([url("a")], "192.0.2.1"), "listed");
    assert.match(String(named("address_list_error")[0]?.error), /^its copy in DATA_DIR cannot be written: ENOENT/);
  });

  test("a file is read again when it changes, and its last good content stays while it is broken", async (t) => {
    const { lists, named } = opened(t);
    const place = join(workingDir(), "list");
    const list: AddressList = { id: "f", name: "file:list", kind: "file", place, ...FILE };
    writeFileSync(place, "192.0.2.1\n");
    lists.apply([list]);
    lists.start();
    await until(() => lists.find([list], "192.0.2.1") === "listed");
    writeFileSync(place, "192.0.2.");
    await until(() => named("address_list_error").length > 0);
    assert.equal(lists.find([list], "192.0.2.1"), "listed");
    writeFileSync(place, "192.0.2.2\n");
    await until(() => lists.find([list], "192.0.2.2") === "listed");
    assert.equal(lists.find([list], "192.0.2.1"), "not listed");
  });

  test("a list that is no longer used is not read again, and others keep their addresses at a reload", async (t) => {
    const { lists, contents, reads } = opened(t);
    contents.set("a", "192.0.2.1").set("b", "192.0.2.2");
    lists.apply([url("a", 3_600_000), url("b")]);
    await lists.tried([url("a"), url("b")]);
    contents.clear();
    lists.apply([url("a", 3_600_000)]);
    assert.equal(lists.find([url("a")], "192.0.2.1"), "listed");
    assert.equal(lists.find([url("b")], "192.0.2.2"), "unknown");
    await lists.stop();
    assert.equal(reads.at(-1), "a");
    assert.equal(reads.filter((id) => id === "a").length, 2);
  });

  test("after failures the wait doubles, up to a quarter of an hour, and never exceeds the usual one", () => {
    const minutes = [0, 1, 2, 3, 4, 5, 6, 60].map((failures) => nextReadMs(3_600_000, failures) / 60_000);
    assert.deepEqual(minutes, [60, 1, 2, 4, 8, 15, 15, 15]);
    assert.equal(nextReadMs(1000, 3), 1000);
  });
});
