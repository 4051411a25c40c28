import assert from "node:assert/strict";
import { checked, OsError } from "../../lib/fs/os_error.ts";

Deno.test("checked lets results through and makes failures of negated error numbers", () => {
  assert.deepEqual([checked(0), checked(7)], [0, 7]);
  const cases: [errno: number, kind: string, message: string][] = [
    [1, "invalidRequest", "Operation not permitted (os error 1)"],
    [2, "notFound", "No such file or directory (os error 2)"],
    [5, "internal", "I/O error (os error 5)"],
    [13, "invalidRequest", "Permission denied (os error 13)"],
    [22, "invalidRequest", "Invalid argument (os error 22)"],
    [36, "internal", "Filename too long (os error 36)"],
    [9999, "internal", "No error information (os error 9999)"],
  ];
  for (const [errno, kind, message] of cases) {
    assert.throws(() => checked(-errno), (error) => {
      assert.ok(error instanceof OsError);
      assert.deepEqual([error.errno, error.kind, error.message], [errno, kind, message]);
      return true;
    });
  }
});
