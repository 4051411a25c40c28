import assert from "node:assert/strict";
import { connectRelay } from "../../lib/client/connect.ts";
import type { ExecClient } from "../../lib/client/client.ts";
import {
  createLog,
  ExecServer,
  listen,
  type RemoteAuth,
  type RemoteEnvironmentOptions,
  runForward,
  runRemoteEnvironment,
  type SignedRequest,
} from "../../lib/server/mod.ts";
import { eventually, inTime } from "../program/eventually.ts";
import { Destination } from "../relay/support/destination.ts";
import { TestRegistry } from "../relay/support/registry.ts";
import { TestWorld } from "../relay/support/world.ts";
import { ManualClock } from "../support/manual_clock.ts";

const ignore = Deno.build.os !== "linux";
// They open libraries, which must not be counted as leaks of a test.
if (!ignore) {
  await Promise.all([
    import("../../lib/process/linux/spawn.ts"),
    import("../../lib/fs/linux/system.ts"),
    import("../../lib/linux/tcp.ts"),
  ]);
}
const ENVIRONMENT = "environment";
const KEY = "key-of-the-embedder";

/** Something that runs until its scope is left. */
class Running implements AsyncDisposable {
  readonly stop = new AbortController();
  readonly ended: Promise<void>;

  constructor(run: (signal: AbortSignal) => Promise<void>) {
    this.ended = run(this.stop.signal);
    this.ended.catch(() => {}); // whoever waits for it hears of it
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop.abort();
    await inTime("the end", this.ended.catch(() => {}));
  }
}

function environment(world: TestWorld, options: Partial<RemoteEnvironmentOptions> = {}): Running {
  return new Running((signal) =>
    runRemoteEnvironment({
      registry: world.registryUrl,
      environmentId: ENVIRONMENT,
      auth: () => ({ authorization: `Bearer ${KEY}` }),
      signal,
      ...options,
    } as RemoteEnvironmentOptions)
  );
}

/** A server whose programs have ended, and all that watched them, when its scope has been left. */
async function linuxServer(): Promise<AsyncDisposable & { readonly server: ExecServer }> {
  const { linuxBackend } = await import("../../lib/process/linux/spawn.ts");
  const backend = linuxBackend({ log: createLog("off") });
  const server = await ExecServer.create({ backend });
  return {
    server,
    async [Symbol.asyncDispose]() {
      server[Symbol.dispose]();
      await backend[Symbol.asyncDispose]();
    },
  };
}

async function connect(world: TestWorld): Promise<ExecClient> {
  await world.rendezvous.connected("executor", 1);
  return await connectRelay({ registry: world.registryUrl, environmentId: ENVIRONMENT, token: "harness" });
}

async function says(client: ExecClient, word: string): Promise<void> {
  const { stdoutText } = await client.run({ argv: ["echo", word] });
  assert.equal(stdoutText, `${word}\n`);
}

/** A program that runs until it is ended. @returns Its process id. */
async function sleeper(client: ExecClient): Promise<number> {
  const process = await client.start({ argv: ["sh", "-c", "echo $$; exec sleep 300"] });
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) return Number(text);
  throw new Error("it said nothing");
}

function isRunning(pid: number): boolean {
  try {
    const state = Deno.readTextFileSync(`/proc/${pid}/stat`).replace(/.*\) /s, "")[0];
    return state !== "Z";
  } catch {
    return false; // it is gone
  }
}

Deno.test({
  name: "an embedder's environment serves harnesses through the relay, and ends with its signal and all its programs",
  ignore,
  async fn() {
    await using world = TestWorld.start();
    const running = environment(world);
    await using first = await connect(world);
    await using second = await connect(world);
    await Promise.all([says(first, "one"), says(second, "two")]);
    const pid = await sleeper(first);
    assert.ok(isRunning(pid));
    running.stop.abort();
    await inTime("the end", running.ended);
    assert.ok(!isRunning(pid));
    for (const { headers } of [...world.registry.requestsOf("register"), ...world.registry.requestsOf("validate")]) {
      assert.equal(headers["authorization"], `Bearer ${KEY}`);
    }
    assert.equal(world.registry.requestsOf("validate").length, 2);
  },
});

Deno.test({
  name: "an embedder's own server goes on when the environment has ended",
  ignore,
  async fn() {
    await using world = TestWorld.start();
    await using backend = await linuxServer();
    const { server } = backend;
    await using running = environment(world, { server });
    await using client = await connect(world);
    const pid = await sleeper(client);
    running.stop.abort();
    await inTime("the end", running.ended);
    assert.ok(isRunning(pid));
  },
});

Deno.test("requests to the registry go through the embedder's fetch", async () => {
  await using world = TestWorld.start();
  const asked: string[] = [];
  const through: typeof fetch = (input, init) => {
    asked.push(new URL(input instanceof Request ? input.url : input).pathname.split("/").at(-1)!);
    return fetch(input, init);
  };
  await using _running = environment(world, { fetch: through });
  await using _client = await connect(world);
  assert.deepEqual(asked, ["register", "validate"]);
});

Deno.test("a registration that is refused for good rejects with the reason", async () => {
  await using world = TestWorld.start();
  world.registry.always("register", { status: 401, body: { error: { code: "c1", message: "go away" } } });
  await using running = environment(world);
  await assert.rejects(inTime("the end", running.ended), {
    message: "environment registry authentication error: environment registry authentication failed " +
      "(401 Unauthorized): go away",
  });
  assert.equal(world.registry.requests.length, 1);
});

Deno.test("a credential that fails for a while is asked for again, and one that fails for good ends the environment", async () => {
  await using world = TestWorld.start();
  const clock = new ManualClock();
  const failures = [Object.assign(new Error("busy"), { transient: true }), new Error("no key")];
  const asked: PromiseWithResolvers<void>[] = failures.map(() => Promise.withResolvers());
  let count = 0;
  const auth: RemoteAuth = () => {
    asked[count]!.resolve();
    throw failures[count++];
  };
  await using running = environment(world, { auth, clock });
  await inTime("the first attempt", asked[0]!.promise);
  await eventually("there is a pause", () => assert.ok(clock.pendingTimers > 0));
  clock.advance(750);
  await assert.rejects(inTime("the end", running.ended), {
    message: "environment registry authentication error: failed to resolve environment registry authentication: " +
      "request auth build error: no key",
  });
  assert.equal(count, 2);
  assert.deepEqual([world.registry.requests.length, clock.pendingTimers], [0, 0]);
});

Deno.test("a credential that never comes does not hold up the end", async (test) => {
  const never = new Promise<never>(() => {});
  await using world = TestWorld.start();
  await test.step("at a registration", async () => {
    const asked = Promise.withResolvers<void>();
    await using running = environment(world, {
      auth: () => {
        asked.resolve();
        return never;
      },
    });
    await inTime("the question", asked.promise);
    running.stop.abort();
    await inTime("the end", running.ended);
  });
  await test.step("at a validation", async () => {
    const asked = Promise.withResolvers<void>();
    let count = 0;
    await using running = environment(world, {
      auth: () => {
        if (++count === 1) return {};
        asked.resolve();
        return never;
      },
    });
    const connecting = connect(world);
    connecting.catch(() => {}); // it fails when the executor ends
    await inTime("the question", asked.promise);
    running.stop.abort();
    await inTime("the end", running.ended);
    await assert.rejects(connecting);
  });
  await test.step("of the direct transport", async () => {
    const asked = Promise.withResolvers<void>();
    const signer = {
      sign() {
        asked.resolve();
        return never;
      },
    };
    await using running = new Running((signal) =>
      runRemoteEnvironment({ registry: world.registryUrl, environmentId: ENVIRONMENT, signer, signal })
    );
    await inTime("the question", asked.promise);
    running.stop.abort();
    await inTime("the end", running.ended);
  });
});

Deno.test("what an embedder gives in place of headers is told without its value", async () => {
  await using world = TestWorld.start();
  for (
    const [auth, why] of [
      [undefined, "there are no headers"],
      [null, "there are no headers"],
      [{ authorization: "Bearer geheim\nx: y" }, 'the value of the header "authorization" cannot be sent'],
      [{ authorization: "geheim \u20ac" }, 'the value of the header "authorization" cannot be sent'],
      [{ authorization: undefined }, 'the value of the header "authorization" cannot be sent'],
      [{ "a b": "geheim" }, 'the header "a b" cannot be sent'],
    ] as const
  ) {
    await using running = environment(world, { auth: (() => auth) as unknown as RemoteAuth });
    await assert.rejects(inTime("the end", running.ended), {
      message: "environment registry authentication error: failed to resolve environment registry authentication: " +
        `request auth build error: ${why}`,
    });
  }
  assert.equal(world.registry.requests.length, 0);
});

Deno.test("what is wrong with the options rejects before anything is asked", async () => {
  await using world = TestWorld.start();
  const refused = async (options: Partial<RemoteEnvironmentOptions>, message: RegExp) => {
    await using running = environment(world, options);
    await assert.rejects(inTime("the end", running.ended), { message });
  };
  await refused({ environmentId: " " }, /environment id is required for remote exec-server registration/);
  await refused({ registry: "nope" }, /relative URL without a base/);
  await refused({ maxDetachedMs: -1 }, /maxDetachedMs must be at least 0/);
  assert.equal(world.registry.requests.length, 0);
});

Deno.test("a signal that is aborted already starts nothing", async () => {
  await using world = TestWorld.start();
  const options = {
    registry: world.registryUrl,
    environmentId: ENVIRONMENT,
    auth: () => ({}),
    signal: AbortSignal.abort(),
  };
  await runRemoteEnvironment(options);
  await runForward({ ...options, connect: "ws://127.0.0.1:1" });
  assert.equal(world.registry.requests.length, 0);
});

Deno.test({
  name: "the forwarder hands streams on to a server that runs already, whose sessions outlive it",
  ignore,
  async fn() {
    await using world = TestWorld.start();
    await using backend = await linuxServer();
    const { server } = backend;
    await using listener = listen({
      address: { hostname: "127.0.0.1", port: 0 },
      authorize: null,
      log: createLog("off"),
      onConnection: (connection) => void server.serve(connection, "websocket"),
    });
    await using running = new Running((signal) =>
      runForward({
        registry: world.registryUrl,
        environmentId: ENVIRONMENT,
        auth: () => ({ authorization: `Bearer ${KEY}` }),
        connect: listener.url,
        signal,
      })
    );
    await using client = await connect(world);
    await says(client, "through");
    const pid = await sleeper(client);
    running.stop.abort();
    await inTime("the end", running.ended);
    assert.ok(isRunning(pid));
  },
});

Deno.test("a forwarder's destination is checked before anything is asked, after the environment", async () => {
  await using world = TestWorld.start();
  const options = { registry: world.registryUrl, auth: () => ({}), connect: "http://127.0.0.1:1" };
  const { signal } = new AbortController();
  await assert.rejects(runForward({ ...options, environmentId: ENVIRONMENT, signal }), {
    message: "failed to configure exec-server websocket: forward destination must be a ws:// or wss:// URL",
  });
  await assert.rejects(runForward({ ...options, environmentId: "", signal }), {
    message: /environment id is required/,
  });
  assert.equal(world.registry.requests.length, 0);
});

Deno.test("with a signer the service itself is served, without a relay", async () => {
  await using service = new Destination();
  await using registry = new TestRegistry({ url: () => `${service.url}/direct?secret` });
  const signed: Pick<SignedRequest, "method" | "url">[] = [];
  const running = new Running((signal) =>
    runRemoteEnvironment({
      registry: registry.url,
      environmentId: ENVIRONMENT,
      signer: {
        sign({ method, url }) {
          signed.push({ method, url });
          return Promise.resolve({ authorization: "signature" });
        },
      },
      signal,
    })
  );
  const { upgrade, socket, texts } = await service.arrived();
  assert.deepEqual([upgrade.target, upgrade.headers["authorization"]], ["/direct?secret", "signature"]);
  assert.deepEqual(registry.requests.map(({ route, json }) => [route, json]), [
    ["direct/register", { transport: "direct_jsonrpc_v1" }],
  ]);
  assert.deepEqual(signed, [
    { method: "POST", url: `${registry.url}/cloud/environment/${ENVIRONMENT}/direct/register` },
    { method: "GET", url: `${service.url}/direct?secret` },
  ]);
  socket.send(new TextEncoder().encode('{"id":1,"method":"initialize","params":{"clientName":"test"}}'));
  await service.until("the answer", () => texts.length === 1);
  assert.match(texts[0]!, /^\{"id":1,"result":\{"sessionId":"/);
  running.stop.abort();
  await inTime("the end", running.ended);
  await inTime("the socket's end", socket.ended);
});
