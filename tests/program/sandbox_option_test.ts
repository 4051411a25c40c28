import assert from "node:assert/strict";
import { connect } from "../../lib/client/connect.ts";
import { parseJson } from "../../lib/json.ts";
import { type SandboxContext, sandboxContext } from "../../lib/protocol/sandbox.ts";
import type { BackEndName } from "../../lib/sandbox/back_end_choice.ts";
import { backEndMissing } from "../sandbox/support/back_ends.ts";
import { SELF } from "../sandbox/support/user.ts";
import { pathEntry, restricted, specialEntry } from "../support/sandbox_documents.ts";
import { eventually } from "./eventually.ts";
import { OUR_COMMAND, RunningServer, type ServerCommand } from "./running_server.ts";

/** Everything may be read, and what is below this path written. */
function readable(writable?: string): Readonly<Record<string, unknown>> {
  const grants = writable === undefined ? [] : [pathEntry(`file://${writable}`, "write")];
  return restricted([specialEntry("root", "read"), ...grants]);
}

/** The same for our client. */
function decoded(document: unknown): SandboxContext {
  return sandboxContext.decode(parseJson(JSON.stringify(document)));
}

/** A directory of the test's own, which is its runtime directory as well. */
async function place(): Promise<AsyncDisposable & { readonly path: string; readonly command: ServerCommand }> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "exec-server-sandbox-" }));
  await Deno.chmod(path, 0o700);
  await Deno.mkdir(`${path}/workspace`);
  return {
    path,
    command: ["/usr/bin/env", `XDG_RUNTIME_DIR=${path}`, "SERVER_VARIABLE=of-the-server", ...OUR_COMMAND],
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/** Registers a test that is counted as skipped where the back end has no chance. */
async function testWith(backEnd: BackEndName, name: string, fn: () => Promise<void>): Promise<void> {
  const reason = await backEndMissing(backEnd, SELF);
  Deno.test({
    name: `${name} (${backEnd})${reason === undefined ? "" : ` (skipped: ${reason})`}`,
    ignore: reason !== undefined,
    fn,
  });
}

for (const backEnd of ["bubblewrap", "unshare"] as const) {
  await testWith(backEnd, "nothing of the server is reachable in a sandbox that may read everything", async () => {
    await using scratch = await place();
    const token = `${scratch.path}/token`;
    await Deno.writeTextFile(token, "the-right-one", { mode: 0o600 });
    await Deno.symlink(token, `${scratch.path}/link`);
    await using server = await RunningServer.start({
      command: scratch.command,
      options: ["--sandbox", backEnd, "--ws-auth", "capability-token", "--ws-token-file", `${scratch.path}/link`],
    });
    await using client = await connect(server.url, { token: "the-right-one" });
    const script = `cd "$1"; cat token link /proc/self/root$1/token ../*/token 2>&1; cp token workspace/ 2>&1
ls -l exec-server 2>&1; ls /proc/self/fd; env; cat /proc/*/environ | tr '\\0' '\\n'; echo in > workspace/file`;
    const { code, sandboxType, stdoutText } = await client.start({
      argv: ["/bin/sh", "-c", script, "sh", scratch.path],
      inherit: "none",
      sandbox: decoded(readable(`${scratch.path}/workspace`)),
    }).then(async (process) => {
      const stdoutText = await new Response(process.stdout).text();
      return { ...await process.exited, sandboxType: process.sandboxType, stdoutText };
    });
    assert.deepEqual([code, sandboxType], [0, "linuxSeccomp"]);
    // Reading a file is no program, and comes to the same.
    const sandbox = decoded(readable());
    for (const name of ["token", "link"]) {
      await assert.rejects(
        client.files.readFile(`${scratch.path}/${name}`, { sandbox }),
        { kind: "InvalidInput" },
        name,
      );
    }
    assert.equal(await client.files.readTextFile(`${scratch.path}/workspace/file`, { sandbox }), "in\n");
    assert.doesNotMatch(stdoutText, /the-right-one|of-the-server|mount-points|covers/);
    // 3 is that of \`ls\` itself.
    assert.match(stdoutText, /^0\n1\n2\n3\n(?!\d)/m);
    assert.equal(await Deno.readTextFile(`${scratch.path}/workspace/file`), "in\n");
    assert.equal(await Deno.readTextFile(token), "the-right-one");
  });
}

const protectedNames = (workspace: string) => Array.from(Deno.readDirSync(workspace), ({ name }) => name).toSorted();
const PROTECTED = [".agents", ".aws", ".codex", ".git"];
const FOREVER = { argv: ["/bin/sleep", "1000"] };

for (const listen of ["ws", "stdio"] as const) {
  await testWith(
    "bubblewrap",
    `what sandboxes need is gone when the server has ended by SIGTERM, over ${listen}`,
    async () => {
      await using scratch = await place();
      const workspace = `${scratch.path}/workspace`;
      await using server = await RunningServer.start({ command: scratch.command, listen });
      await using client = await server.connect();
      await client.initialize();
      const start = { processId: "forever", ...FOREVER, cwd: `file://${workspace}`, env: {}, tty: false };
      await client.request("process/start", { ...start, sandbox: readable(workspace) });
      await eventually("it runs", () => assert.deepEqual(protectedNames(workspace), PROTECTED));
      server.child.kill("SIGTERM");
      await server.child.status;
      assert.deepEqual(protectedNames(workspace), []);
      const record = Array.from(Deno.readDirSync(`${scratch.path}/exec-server/mount-points`), ({ name }) => name);
      assert.deepEqual(record.filter((name) => name !== "lock"), []);
    },
  );
}

await testWith(
  "bubblewrap",
  "what sandboxes needed is gone when the server after a killed one has started",
  async () => {
    await using scratch = await place();
    const workspace = `${scratch.path}/workspace`;
    {
      await using server = await RunningServer.start({ command: scratch.command });
      await using client = await server.connect();
      await client.initialize();
      const start = { processId: "forever", ...FOREVER, cwd: `file://${workspace}`, env: {}, tty: false };
      await client.request("process/start", { ...start, sandbox: readable(workspace) });
      await eventually("it runs", () => assert.deepEqual(protectedNames(workspace), PROTECTED));
      server.child.kill("SIGKILL");
      await server.child.status;
      assert.deepEqual(protectedNames(workspace), PROTECTED);
    }
    await using _next = await RunningServer.start({ command: scratch.command });
    await eventually("it is removed", () => assert.deepEqual(protectedNames(workspace), []));
  },
);

Deno.test({
  name: "--sandbox external warns once at start and confines nothing",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using scratch = await place();
    await using server = await RunningServer.start({ command: scratch.command, options: ["--sandbox", "external"] });
    const script = `echo written > ${scratch.path}/outside`;
    for (const _ of [1, 2]) {
      await using client = await connect(server.url);
      await using process = await client.start({ argv: ["/bin/sh", "-c", script], sandbox: decoded(readable()) });
      assert.equal(process.sandboxType, "none");
      const { code, sandboxDenied } = await process.exited;
      assert.deepEqual([code, sandboxDenied], [0, false]);
    }
    assert.equal(await Deno.readTextFile(`${scratch.path}/outside`), "written\n");
    assert.equal(server.stderr.match(/WARN sandboxes are not enforced here/g)?.length, 1);
  },
});
