import assert from "node:assert/strict";
import { failureOf, helperFailed, statusText } from "../../../lib/fs/sandboxed/failure.ts";
import { OsError } from "../../../lib/fs/os_error.ts";

Deno.test("how a helper has ended is said in the reference's words", () => {
  assert.equal(statusText(0), "exit status: 0");
  assert.equal(statusText(126 << 8), "exit status: 126");
  assert.equal(statusText(9), "signal: 9 (SIGKILL)");
  assert.equal(statusText(11 | 0x80), "signal: 11 (SIGSEGV) (core dumped)");
  assert.equal(statusText(34), "signal: 34");
  assert.equal(statusText(undefined), "unknown");
  const { kind, message } = helperFailed("exit status: 1", "bwrap: no");
  assert.deepEqual([kind, message], ["internal", "fs sandbox helper failed with status exit status: 1: bwrap: no"]);
});

Deno.test("failures arrive as they were, with the number of the system's", () => {
  const absent = failureOf({ kind: "notFound", message: "No such file or directory (os error 2)", errno: 2 });
  assert.ok(absent instanceof OsError && absent.errno === 2 && absent.kind === "notFound");
  const refused = failureOf({ kind: "invalidRequest", message: "in words", errno: null });
  assert.ok(!(refused instanceof OsError) && refused.kind === "invalidRequest" && refused.message === "in words");
});
