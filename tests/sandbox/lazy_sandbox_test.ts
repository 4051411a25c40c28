import assert from "node:assert/strict";
import { ExecError } from "../../lib/errors.ts";
import { silentLog } from "../../lib/log.ts";
import { LazySandbox } from "../../lib/sandbox/lazy_sandbox.ts";
import { FakeSandbox } from "../support/fake_sandbox.ts";

const options = { choice: "auto", secretPaths: ["/s"], log: silentLog } as const;
const ending = { name: "ExecError", kind: "internal", message: "the server is ending" };

Deno.test("a sandbox is made when it is first asked for, once, from what the operator said", async () => {
  const asked: unknown[] = [];
  const made = new FakeSandbox();
  using sandbox = new LazySandbox(options, (given) => {
    asked.push(given);
    return Promise.resolve(made);
  });
  assert.deepEqual(asked, []);
  assert.deepEqual(await Promise.all([sandbox.get(), sandbox.get()]), [made, made]);
  assert.deepEqual(asked, [options]);
  assert.deepEqual(made.calls, []);
});

Deno.test("a sandbox that could not be made is tried again", async () => {
  let failing = true;
  const made = new FakeSandbox();
  using sandbox = new LazySandbox(
    options,
    () => failing ? Promise.reject(new ExecError("sandboxUnavailable", "none")) : Promise.resolve(made),
  );
  await assert.rejects(sandbox.get(), { kind: "sandboxUnavailable", message: "none" });
  failing = false;
  assert.equal(await sandbox.get(), made);
});

Deno.test("the sandbox ends with its scope, at once, and none is made afterwards", async () => {
  const made = new FakeSandbox();
  const sandbox = new LazySandbox(options, () => Promise.resolve(made));
  await sandbox.get();
  sandbox[Symbol.dispose]();
  sandbox[Symbol.dispose]();
  assert.deepEqual(made.calls, ["dispose"]);
  await assert.rejects(sandbox.get(), ending);

  const unused = new LazySandbox(options, () => assert.fail("made"));
  unused[Symbol.dispose]();
  await assert.rejects(unused.get(), ending);
});

Deno.test("a sandbox that is made too late ends at once, and who waited for it gets none", async () => {
  const made = new FakeSandbox();
  const making = Promise.withResolvers<FakeSandbox>();
  const sandbox = new LazySandbox(options, () => making.promise);
  const waiting = sandbox.get();
  sandbox[Symbol.dispose]();
  making.resolve(made);
  await assert.rejects(waiting, ending);
  assert.deepEqual(made.calls, ["dispose"]);
});

Deno.test("only the choice `external` leaves it to somebody else", () => {
  for (const choice of ["auto", "bubblewrap", "unshare", "landlock", "external"] as const) {
    using sandbox = new LazySandbox({ ...options, choice });
    assert.equal(sandbox.isExternal, choice === "external");
  }
});
