import assert from "node:assert/strict";
import { WireClient } from "../support/wire_client.ts";
import { inTime } from "./eventually.ts";
import { OUR_COMMAND, signalIfAlive } from "./running_server.ts";

/** More lines than a pipe holds (64 KiB), at about 100 bytes each. */
const VIOLATIONS = 1000;

Deno.test({
  name: "a server whose log nobody reads goes on serving, and ends when it is told to",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const [program, ...args] = OUR_COMMAND;
    const child = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
    const stdout = child.stdout.getReader();
    try {
      const url = new TextDecoder().decode((await stdout.read()).value).trim();
      for (let count = 0; count < VIOLATIONS; count++) {
        await using client = await inTime(`connection ${count}`, WireClient.connect(url));
        client.send('{"method":"unknown"}');
        await inTime(`the end of connection ${count}`, client.ended);
      }
      child.kill("SIGTERM");
      assert.equal((await inTime("the end of the server", child.status)).code, 0);
    } finally {
      await Promise.all([stdout.cancel(), child.stderr.cancel()]);
      signalIfAlive(child, "SIGKILL");
      await child.status;
    }
  },
});
