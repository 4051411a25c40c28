/** One list of what any environment does, for a server behind a connection and for this process itself. */

import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import type { Environment } from "../../lib/client/environment.ts";
import { localEnvironment } from "../../lib/local/mod.ts";
import { silentLog } from "../../lib/log.ts";
import { systemBackend } from "../../lib/process/backend.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ExecServer } from "../../lib/server/mod.ts";
import type { Case } from "./case.ts";
import { FILE_CASES } from "./file_cases.ts";
import { HTTP_CASES, httpPeer } from "./http_cases.ts";
import { PROCESS_CASES } from "./process_cases.ts";

// What is loaded once stays; no test is to be blamed for that.
if (Deno.build.os === "linux") {
  await Promise.all([
    import("../../lib/process/linux/machine.ts"),
    import("../../lib/process/linux/confined.ts"),
    import("../../lib/sandbox/linux_sandbox.ts"),
    import("../../lib/fs/linux/system.ts"),
    import("../../lib/fs/sandboxed/confined_files.ts"),
    import("../../lib/linux/tcp.ts"),
  ]);
}
Deno.env.set("CONFORMANCE", "a variable");

/** An environment behind a server, which ends with it. */
async function remoteEnvironment(): Promise<Environment> {
  await using scope = new AsyncDisposableStack();
  const backend = scope.use(await systemBackend(silentLog));
  const server = scope.use(await ExecServer.create({ backend }));
  const [near, far] = memoryPair();
  void server.serve(far, "websocket");
  const client = scope.use(
    await ExecClient.connect({
      label: "exec-server memory",
      resume: null,
      renewable: false,
      open: () => Promise.resolve({ connection: near }),
    }),
  );
  const owned = scope.move();
  return new Proxy(client, {
    get: (target, name) => {
      if (name === Symbol.asyncDispose) return () => owned.disposeAsync();
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

async function play(one: Case, open: () => Promise<Environment>): Promise<unknown> {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-local-" });
  try {
    await using peer = httpPeer();
    await using environment = await open();
    return await one.run({ environment, directory, url: peer.url });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

for (const one of [...FILE_CASES, ...PROCESS_CASES, ...HTTP_CASES]) {
  Deno.test(`here and behind a server: ${one.name}`, async () => {
    const remote = await play(one, remoteEnvironment);
    assert.deepEqual(await play(one, localEnvironment), remote);
  });
}
