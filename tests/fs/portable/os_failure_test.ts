import assert from "node:assert/strict";
import { ExecError } from "../../../lib/errors.ts";
import { errnoOf, orNull, orOsError } from "../../../lib/fs/portable/os_failure.ts";

const named = (code: string) => Object.assign(new Error("words of some system (os error 66)"), { code });

Deno.test("errors keep their names, whatever number the system has for them", () => {
  assert.equal(errnoOf(named("ENOTEMPTY")), 39);
  assert.equal(errnoOf(named("EACCES")), 13);
  assert.equal(errnoOf(Object.assign(new Error("…"), { code: "toString" })), null);
});

Deno.test("errors without a name are known by their class, or by a number that all systems share", () => {
  assert.equal(errnoOf(new Deno.errors.NotFound("…")), 2);
  assert.equal(errnoOf(new Deno.errors.PermissionDenied("…")), 13);
  assert.equal(errnoOf(new Error("No such device or address (os error 6): open 'x'")), 6);
  assert.equal(errnoOf(new Error("of this system only (os error 92): open 'x'")), null);
  assert.equal(errnoOf(new Error("no number")), null);
  assert.equal(errnoOf("no error"), null);
});

Deno.test("orOsError() has the wire's words for an error, and never a path", async () => {
  await assert.rejects(orOsError(Deno.stat("/nosuch")), { message: "No such file or directory (os error 2)" });
  const odd = Promise.reject(new Error("of this system only (os error 92): open '/secret'"));
  await assert.rejects(orOsError(odd), (error) => {
    assert.ok(error instanceof ExecError);
    assert.deepEqual([error.kind, error.message], ["internal", "of this system only (os error 92)"]);
    return true;
  });
  const defect = new Error("a mistake of ours");
  await assert.rejects(orOsError(Promise.reject(defect)), (error) => error === defect);
  assert.equal(await orOsError(Promise.resolve(1)), 1);
});

Deno.test("orNull() takes only absence for an answer", async () => {
  assert.equal(await orNull(Deno.stat("/nosuch")), null);
  await assert.rejects(orNull(Deno.stat("/dev/null/x")), { message: "Not a directory (os error 20)" });
});
