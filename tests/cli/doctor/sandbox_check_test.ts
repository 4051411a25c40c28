import assert from "node:assert/strict";
import type { Client } from "../../../lib/cli/client.ts";
import { lookAtBackEnds } from "../../../lib/cli/doctor/back_ends.ts";
import type { Finding } from "../../../lib/cli/doctor/check.ts";
import { sandbox } from "../../../lib/cli/doctor/sandbox_check.ts";
import { ClientError } from "../../../lib/client/client_error.ts";
import { FileError } from "../../../lib/client/file_error.ts";
import type { FileOptions } from "../../../lib/client/files.ts";
import type { StartOptions } from "../../../lib/client/process.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** What a program says that is started with a policy that lets it write, and with one that does not. */
interface Answers {
  readonly writing: string | Error;
  readonly reading?: string | Error;
  readonly sandboxType?: string;
  readonly platformOs?: string;
  /** What requests are refused with that write to a file inside, and outside. */
  readonly requests?: readonly [inside: Error | undefined, outside: Error | undefined];
}

const READ_ONLY = new FileError("Other", "Read-only file system (os error 30)");

async function lookAt(
  {
    writing,
    reading = writing,
    sandboxType = "linuxSeccomp",
    platformOs = "linux",
    requests: [inside, outside] = [undefined, READ_ONLY],
  }: Answers,
) {
  const [made, removed, asked]: [string[], string[], string[][]] = [[], [], []];
  const start = ({ argv, sandbox }: StartOptions) => {
    asked.push([...argv]);
    const { permissions } = sandbox!;
    assert.ok(permissions.type === "managed" && permissions.file_system.type === "restricted");
    const answer = permissions.file_system.entries.length === 2 ? writing : reading;
    if (answer instanceof Error) return Promise.reject(answer);
    const stream = (text: string) => new Blob([text]).stream();
    const exited = Promise.resolve({ code: 0 });
    return Promise.resolve({
      sandboxType,
      stdout: stream(answer),
      stderr: stream(""),
      exited,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  };
  const client = {
    info: () => Promise.resolve({ platformOs, tempDir: "file:///tmp" }),
    start,
    files: {
      mkdir: (path: string) => Promise.resolve(void made.push(path)),
      writeTextFile: (path: string, _content: string, { sandbox }: FileOptions) => {
        assert.ok(sandbox, "the request asks for a sandbox");
        const refusal = /\/workspace\/[^/]+$/.test(path) ? inside : outside;
        return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
      },
      remove: (path: string) => Promise.resolve(void removed.push(path)),
    },
  } as unknown as Client;
  const finding: Finding = await sandbox.look({
    client,
    clock: new ManualClock(),
    signal: new AbortController().signal,
  });
  assert.deepEqual(removed, made.slice(0, 1), "what was made is removed");
  return { ...finding, asked };
}

const refused = (message: string) =>
  new ClientError("server", message, { serverMessage: message, dataKind: "sandboxUnavailable" });

Deno.test("a sandbox that holds is as it should be", async () => {
  const { status, detail, asked } = await lookAt({ writing: "sh: 1: cannot create x\ninside\n" });
  assert.equal(status, "ok");
  assert.match(detail, /held to it \(linuxSeccomp\): everything but the workspace is read-only/);
  assert.equal(asked.length, 1);
  assert.match(asked[0]!.slice(-2).join(" "), /^\/tmp\/\.\w+\.exec-server-doctor\/workspace \/tmp\/.*\/outside$/);
});

Deno.test("a sandbox that lets something through is a failure", async () => {
  for (const writing of ["inside\noutside\n", "outside\n", "inside\nprotected\n"]) {
    assert.equal((await lookAt({ writing })).status, "failed", writing);
  }
  assert.equal((await lookAt({ writing: refused("x"), reading: "inside\n" })).status, "failed");
});

Deno.test("a sandbox that requests for files cannot have is worth a note, and one that holds only programs a failure", async () => {
  const refusal = new FileError("Other", "fs sandbox helper failed with status unavailable: there is none");
  const missing = await lookAt({ writing: "inside\n", requests: [refusal, refusal] });
  assert.equal(missing.status, "note");
  assert.match(missing.detail, /read-only, and so is .*; requests for files that ask for one are refused: fs sandbox/);
  const open = await lookAt({ writing: "inside\n", requests: [undefined, undefined] });
  assert.deepEqual([open.status, open.detail], ["failed", "a request for a file wrote where its sandbox forbids it"]);
  const gone = new FileError("BrokenPipe", "exec-server transport closed");
  await assert.rejects(lookAt({ writing: "inside\n", requests: [undefined, gone] }), { message: gone.message });
});

Deno.test("a server without a sandbox is worth a note, with its reasons", async () => {
  const none = await lookAt({ writing: refused("sandbox unavailable: bubblewrap: it is not here") });
  assert.deepEqual([none.status, none.detail], [
    "note",
    "programs that ask for a sandbox are refused: bubblewrap: it is not here",
  ]);
  assert.match(none.advice!, /--sandbox external/);
  const weak = await lookAt({ writing: refused("sandbox unavailable: landlock: too much"), reading: "denied\n" });
  assert.equal(weak.status, "note");
  assert.match(weak.detail, /: everything is read-only; refused are those .* workspace: landlock: too much$/);
  const broken = await lookAt({ writing: "bwrap: No permissions\n" });
  assert.deepEqual([broken.status, broken.detail], [
    "note",
    "a program that asks for a sandbox does not run: bwrap: No permissions",
  ]);
});

Deno.test("that nothing is enforced here is said, and where there never is a sandbox nothing is tried", async () => {
  const external = await lookAt({ writing: "inside\noutside\nprotected\n", sandboxType: "none" });
  assert.equal(external.status, "note");
  assert.match(external.detail, /holds no program to its sandbox/);
  const windows = await lookAt({ writing: new Error("not to be asked"), platformOs: "windows" });
  assert.deepEqual([windows.status, windows.asked], ["note", []]);
});

Deno.test("another failure than a missing sandbox is told in its own words", async () => {
  await assert.rejects(lookAt({ writing: new ClientError("closed", "gone") }), { message: "gone" });
});

Deno.test("each way to enforce sandboxes is told with its promise or with what it lacks", async () => {
  const reports = [
    { name: "bubblewrap", isChosen: true, reason: "no bwrap", promise: "every policy" },
    { name: "filter", isChosen: true, reason: undefined, promise: "the network alone" },
  ] as const;
  const [[first, missing], [second, there]] = await lookAtBackEnds(() => Promise.resolve(reports)) as [
    [string, Finding],
    [string, Finding],
  ];
  assert.deepEqual([first, missing.status, missing.detail], ["bubblewrap", "note", "does not work here: no bwrap"]);
  assert.match(missing.advice!, /install bubblewrap/);
  assert.deepEqual([second, there], ["filter", { status: "ok", detail: "can enforce the network alone" }]);
});
