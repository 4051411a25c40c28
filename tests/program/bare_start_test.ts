/** The server in an environment that holds nothing: what programs get must not be what the runtime adds to its own. */
import assert from "node:assert/strict";
import { endWithUs } from "../support/end_with_us.ts";
import { WireClient } from "../support/wire_client.ts";
import { OUR_COMMAND } from "./running_server.ts";

const PROJECT = new URL("../../", import.meta.url).pathname;

/** What a program says that inherits everything, started by a server with these variables alone. */
async function heard(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const [program, ...args] = OUR_COMMAND;
  const cache = await Deno.makeTempDir({ prefix: "exec-server-test-" });
  const child = endWithUs(
    new Deno.Command(program, {
      args: [...args, "--listen", "stdio"],
      cwd: PROJECT,
      clearEnv: true,
      // Under `deno run` the runtime needs a place for what it compiles.
      env: { ...env, DENO_DIR: cache },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn(),
  );
  try {
    await using client = WireClient.overStdio(child);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    let text = "";
    client.onNotification = (method, params) => {
      if (method === "process/output") text += atob(params["chunk"] as string);
      if (method === "process/closed") resolve();
    };
    await client.initialize();
    await client.request("process/start", {
      processId: "p",
      argv,
      cwd: "file:///",
      env: {},
      envPolicy: {
        inherit: "all",
        ignoreDefaultExcludes: true,
        exclude: ["DENO_DIR"],
        set: {},
        includeOnly: [],
      },
      tty: false,
    });
    await closed;
    client.endInput();
    await child.status;
    return text;
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

Deno.test("a program inherits what the server was given, although the runtime adds to it", async () => {
  assert.equal(await heard(["/usr/bin/env"], { PATH: "/nowhere" }), "PATH=/nowhere\n");
  assert.equal(await heard(["/usr/bin/env"], {}), "");
});

Deno.test("a server without a search path lets programs have that of their shell", async () => {
  assert.equal(await heard(["/bin/sh", "-c", "ls -d /"], {}), "/\n");
});
