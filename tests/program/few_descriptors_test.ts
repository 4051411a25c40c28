import assert from "node:assert/strict";
import type { WireClient } from "../support/wire_client.ts";
import { eventually, pause } from "./eventually.ts";
import { OUR_COMMAND, RunningServer } from "./running_server.ts";

/** Deno itself has about 25. */
const DESCRIPTORS = 64;

Deno.test({
  name: "a server that ran out of descriptors keeps its connections and takes new ones when it has some again",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const command = ["/bin/sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "sh", ...OUR_COMMAND] as const;
    await using server = await RunningServer.start({ command });
    await using early = await server.connect();
    await early.initialize();

    const idlers = await fill(server);
    assert.deepEqual(await early.request("environment/status"), { status: "ready" });
    for (const idler of idlers) idler.close();

    await using late = await connectInTheEnd(server);
    await late.initialize();
    assert.deepEqual(await late.request("environment/status"), { status: "ready" });
    assert.deepEqual(await early.request("environment/status"), { status: "ready" });
  },
});

/** How a connection attempt ends when the server stops listening before, while and just after it succeeds. */
const LET_GO = [Deno.errors.ConnectionRefused, Deno.errors.ConnectionReset, Deno.errors.NotConnected];

/** Connections that say nothing, as many as it takes until the server can accept no more. */
async function fill(server: RunningServer): Promise<Deno.Conn[]> {
  const { hostname, port } = new URL(server.url);
  const idlers: Deno.Conn[] = [];
  for (let count = 0; count < DESCRIPTORS; count++) {
    try {
      idlers.push(await Deno.connect({ hostname, port: Number(port) }));
    } catch (error) {
      if (LET_GO.some((kind) => error instanceof kind)) break;
      throw error;
    }
  }
  await eventually("the server notices", () => assert.match(server.stderr, / ERROR cannot accept connections /));
  return idlers;
}

/** The server listens again a moment after it can. */
async function connectInTheEnd(server: RunningServer): Promise<WireClient> {
  for (let attempt = 1;; attempt++) {
    try {
      return await server.connect();
    } catch (error) {
      if (attempt === 50) throw error;
      await pause(100);
    }
  }
}
