import assert from "node:assert/strict";
import { connect, type ExecClient, PathUri, type ServerEvent } from "../../lib/client/mod.ts";
import { portableBackend } from "../../lib/process/portable/spawn.ts";
import type { Params } from "../../lib/protocol/mod.ts";
import { ExecServer, listen, type Listener } from "../../lib/server/mod.ts";
import { silentLog } from "../../lib/log.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") {
  await import("../../lib/process/linux/machine.ts");
  await import("../../lib/linux/file_calls.ts");
}

const TOKEN = "s3cr3t";

/** A server on a port of this machine; with `token` it wants to see it. */
function serve(server: ExecServer, token?: string): Listener {
  return listen({
    address: { hostname: "127.0.0.1", port: 0 },
    authorize: token === undefined
      ? null
      : (header) => Promise.resolve(header === `Bearer ${token}` ? undefined : "invalid websocket bearer token"),
    log: silentLog,
    onConnection: (connection) => void server.serve(connection, "websocket"),
  });
}

function echo(text: string): Params<"process/start"> {
  return {
    processId: "echo",
    argv: ["echo", text],
    cwd: PathUri.parse("file:///"),
    env: new Map([["PATH", "/usr/bin:/bin"]]),
    tty: false,
    pipeStdin: false,
    metadata: null,
    envPolicy: null,
    shellSnapshot: null,
    arg0: null,
    sandbox: null,
    enforceManagedNetwork: false,
    managedNetwork: null,
    networkProxy: null,
  };
}

Deno.test("ExecClient calls a real server and hears its events; its session can be resumed by another", async () => {
  using backend = portableBackend({ log: silentLog });
  using server = await ExecServer.create({ backend });
  await using listener = serve(server);
  const events: ServerEvent[] = [];
  const closed = Promise.withResolvers<void>();
  const onNotification = (event: ServerEvent) => {
    events.push(event);
    if (event.method === "process/closed") closed.resolve();
  };
  const first = await connect(listener.url, { onNotification });
  assert.deepEqual(await first.call("process/start", echo("hi")), { processId: "echo", sandboxType: "none" });
  await closed.promise;
  assert.deepEqual(events.map(({ method }) => method), ["process/output", "process/exited", "process/closed"]);
  await first[Symbol.asyncDispose]();
  assert.equal(first.state, "failed");

  const second = await resume(listener.url, first.sessionId);
  assert.equal(second.sessionId, first.sessionId);
  const read = await second.call("process/read", { processId: "echo", afterSeq: 0, maxBytes: null, waitMs: 0 });
  assert.equal(new TextDecoder().decode(read.chunks[0]?.bytes), "hi\n");
  await second[Symbol.asyncDispose]();
  server[Symbol.dispose]();
  await backend.idle();
});

/** As long as the server has not noticed the end of the old connection, it says that the session is attached. */
async function resume(url: string, resumeSessionId: string): Promise<ExecClient> {
  for (;;) {
    try {
      return await connect(url, { resumeSessionId });
    } catch (error) {
      if ((error as { code?: number }).code !== -32010) throw error;
    }
  }
}

Deno.test("ExecClient asks a real server for its info and status", async () => {
  using server = await ExecServer.create();
  await using listener = serve(server, TOKEN);
  await using client = await connect(listener.url, { token: TOKEN });
  assert.deepEqual(await client.status(), { state: "ready" });
  assert.match((await client.info()).executorVersion, /^\d+\.\d+\.\d+$/);
});

Deno.test("ExecClient runs programs, and reaches files and HTTP, where the server is", async () => {
  using backend = portableBackend({ log: silentLog });
  using server = await ExecServer.create({ backend });
  await using listener = serve(server);
  await using client = await connect(listener.url);
  const { code, stdoutText } = await client.run({ argv: ["sh", "-c", "echo over there; exit 3"] });
  assert.deepEqual([code, stdoutText], [3, "over there\n"]);
  assert.equal((await client.files.stat("/")).isDirectory, true);
  await client[Symbol.asyncDispose]();
  server[Symbol.dispose]();
  await backend.idle();
});
