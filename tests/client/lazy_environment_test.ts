import assert from "node:assert/strict";
import type { Carrier } from "../../lib/client/carrier.ts";
import { connectError } from "../../lib/client/client_error.ts";
import { LazyEnvironment, type LazyEnvironmentOptions } from "../../lib/client/lazy_environment.ts";
import { silentLog } from "../../lib/log.ts";
import { portableBackend } from "../../lib/process/portable/spawn.ts";
import type { Connection } from "../../lib/rpc/connection.ts";
import { memoryPair } from "../../lib/rpc/memory.ts";
import { ExecServer } from "../../lib/server/mod.ts";
import { RecordedTelemetry } from "../support/recorded_telemetry.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") {
  await import("../../lib/process/linux/machine.ts");
  await import("../../lib/linux/file_calls.ts");
}

const ignore = Deno.build.os === "windows";

/** A lazy environment and its server in this process, which can be replaced by one that knows no session. */
class Place implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #backend = this.#stack.use(portableBackend({ log: silentLog }));
  #server: ExecServer | undefined;
  #connection: Connection | undefined;
  readonly environment: LazyEnvironment;

  constructor(options: Partial<LazyEnvironmentOptions> = {}) {
    const carrier: Carrier = {
      label: "memory",
      resume: { pauseMs: () => 1 },
      renewable: true,
      open: async () => {
        const [near, far] = memoryPair();
        this.#connection = far;
        this.#server ??= this.#stack.use(await ExecServer.create({ backend: this.#backend }));
        void this.#server.serve(far, "websocket");
        return { connection: near };
      },
    };
    this.environment = this.#stack.use(new LazyEnvironment(carrier, { id: "place", ...options }));
  }

  replaceServer(): void {
    this.#server = undefined;
    this.#connection?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    // A server kills what runs at its end, and does not wait for it.
    await this.#backend.idle();
  }
}

Deno.test({ name: "a lazy environment is one like any other, once it is used", ignore }, async () => {
  await using place = new Place();
  const { environment } = place;
  const dir = await Deno.makeTempDir();
  try {
    assert.deepEqual([environment.id, environment.connectionState, environment.isDeferred], [
      "place",
      "disconnected",
      false,
    ]);
    assert.deepEqual(await environment.status(), { state: "pending" });
    assert.notEqual((await environment.info()).shell.path, "");
    assert.deepEqual(await environment.status(), { state: "ready" });
    assert.equal(environment.connectionState, "connected");
    assert.deepEqual(await environment.call("environment/status", null), { status: "ready" });
    assert.equal((await environment.run({ argv: ["echo", "hi"] })).stdoutText, "hi\n");
    await using process = await environment.start({ argv: ["cat", `${dir}/none`] });
    assert.notEqual((await process.exited).code, 0);
    await using http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("found"));
    assert.equal(await (await environment.fetch(`http://127.0.0.1:${http.addr.port}/`)).text(), "found");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test({ name: "every method of its files goes to the environment", ignore }, async () => {
  await using place = new Place();
  const { files } = place.environment;
  const dir = await Deno.makeTempDir();
  try {
    await files.mkdir(`${dir}/a/b`, { recursive: true });
    await files.writeTextFile(`${dir}/a/text`, "one");
    await files.writeFile(`${dir}/a/bytes`, new Uint8Array([1, 2]));
    assert.equal(await files.readTextFile(`${dir}/a/text`), "one");
    assert.deepEqual(await files.readFile(`${dir}/a/bytes`), new Uint8Array([1, 2]));
    const writer = (await files.create(`${dir}/a/stream`)).getWriter();
    await writer.write(new TextEncoder().encode("streamed"));
    await writer.close();
    assert.equal(await new Response(await files.open(`${dir}/a/stream`, { offset: 2 })).text(), "reamed");
    await Deno.symlink("text", `${dir}/a/link`);
    assert.equal((await files.stat(`${dir}/a/link`)).size, 3);
    assert.equal((await files.lstat(`${dir}/a/link`)).isSymlink, true);
    assert.equal(await files.realPath(`${dir}/a/link`), `file://${await Deno.realPath(dir)}/a/text`);
    await files.copy(`${dir}/a`, `${dir}/c`, { recursive: true });
    assert.deepEqual((await files.readDir(`${dir}/c`)).map(({ name }) => name).sort(), [
      "b",
      "bytes",
      "link",
      "stream",
      "text",
    ]);
    assert.equal((await files.walk(`${dir}/c`)).entries.length, 4);
    await files.remove(`${dir}/c`, { recursive: true });
    await assert.rejects(files.stat(`${dir}/c`), { name: "FileError", kind: "NotFound", code: "ENOENT" });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test(
  { name: "after its server was replaced a lazy environment works on, in a fresh session", ignore },
  async () => {
    await using place = new Place();
    const { environment } = place;
    const states: string[] = [];
    const end = environment.onConnectionState((state) => void states.push(state));
    const old = await environment.start({ argv: ["cat"], stdin: true });
    place.replaceServer();
    await assert.rejects(old.exited, /unknown session id/);
    assert.equal((await environment.run({ argv: ["echo", "hi"] })).stdoutText, "hi\n");
    assert.deepEqual(states, ["connected", "disconnected", "connected"]);
    end();
  },
);

Deno.test("the files of an environment that cannot be reached fail as files do", async () => {
  const refused = connectError("ws://test", "HTTP error: 404 Not Found");
  const carrier: Carrier = { label: "", resume: null, renewable: true, open: () => Promise.reject(refused) };
  await using environment = new LazyEnvironment(carrier, { id: "a" });
  const message = `exec-server connection attempt failed: ${refused.message}`;
  await assert.rejects(environment.files.readFile("/a"), { name: "FileError", kind: "Other", message });
  await assert.rejects(environment.fetch("http://a/"), { name: "ClientError", kind: "attempt", message });
  await assert.rejects(environment.run({ argv: ["a"] }), { name: "ClientError", kind: "attempt", message });
  const signal = AbortSignal.abort(new Error("no more"));
  await assert.rejects(environment.files.readFile("/a", { signal }), { message: "no more" });
  await assert.rejects(environment.fetch(new Request("http://a/", { signal })), { message: "no more" });
  await assert.rejects(environment.fetch("http://a/", { signal }), { message: "no more" });
});

Deno.test({ name: "waiting and refreshing have spans of the caller's trace", ignore }, async () => {
  const telemetry = new RecordedTelemetry();
  telemetry.current = { traceparent: "caller", tracestate: "" };
  await using place = new Place({ telemetry });
  await place.environment.waitUntilReady();
  await place.environment.waitUntilReady({ trace: null });
  await assert.rejects(place.environment.refreshConnection(), {
    message: "exec-server protocol error: connection refresh requires a Noise registry",
  });
  const spans = telemetry.spans.filter(({ name }) => name.startsWith("exec_server.environment."));
  assert.deepEqual(spans.map(({ name, attributes, parent, endedWith }) => [name, attributes, parent, endedWith]), [
    ["exec_server.environment.wait_until_ready", { remote: true }, telemetry.current, {}],
    ["exec_server.environment.wait_until_ready", { remote: true }, undefined, {}],
    ["exec_server.environment.refresh_connection", { remote: true }, telemetry.current, {}],
  ]);
});
