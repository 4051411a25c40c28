import assert from "node:assert/strict";
import { GroupTable } from "../../../lib/process/linux/group_table.ts";

Deno.test("GroupTable shows each group on a line, and uses the lines of those that are gone again", () => {
  const table = GroupTable.create();
  assert.ok(typeof table !== "number");
  const lines = () => Deno.readTextFileSync(`/proc/self/fd/${table.file}`).split("\n");
  assert.deepEqual(lines(), [""]);
  const [one, two] = [table.add(17), table.add(4_194_304)];
  assert.deepEqual(lines(), ["L         17", "L    4194304", ""]);
  table.orphaned(two);
  table.remove(one);
  assert.deepEqual(lines(), ["-          0", "O    4194304", ""]);
  assert.equal(table.add(18), one);
  table.remove(two);
  assert.deepEqual(lines(), ["L         18", "-          0", ""]);
  table[Symbol.dispose]();
});
