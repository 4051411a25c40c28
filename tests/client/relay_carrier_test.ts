import assert from "node:assert/strict";
import { ExecClient } from "../../lib/client/client.ts";
import { deferredCarrier, Provisioning } from "../../lib/client/deferred.ts";
import { MAX_UNANSWERED_REQUESTS } from "../../lib/client/limits.ts";
import { EXTENSIONS_CAPABILITY } from "../../lib/protocol/extensions.ts";
import { encodePublicKeys } from "../../lib/relay/noise/public_key_json.ts";
import { StaticKeys } from "../../lib/relay/noise/static_keys.ts";
import recorded from "../relay/vectors/real-harness-session.json" with { type: "json" };
import { INFO } from "../support/scripted_server.ts";
import { close, connected, EXECUTORS, open, refusal, RelayWorld, SHOWN } from "./support/relay_world.ts";

Deno.test("a connection is asked for as the reference does, and goes where the registry says", async () => {
  const world = new RelayWorld();
  const carrier = world.carrier({ accountId: "acct-1", headers: { "x-one": "1" } });
  const opening = open(world, {}, carrier);
  const { authorization } = await world.answer(1);
  const opened = await opening;
  const [{ url, headers, json }] = world.asked as [RelayWorld["asked"][number]];
  assert.equal(url, "https://registry.test/base/cloud/environment/environment/connect");
  assert.deepEqual(headers, {
    ...{ "content-type": "application/json", accept: "*/*", "user-agent": "", "x-one": "1" },
    ...{ authorization: "Bearer token-1", "chatgpt-account-id": "acct-1" },
  });
  const theirs = recorded.registry.connect.body.harness_public_key;
  assert.deepEqual(Object.keys(json), ["harness_public_key"]);
  for (const [name, value] of Object.entries(theirs)) {
    assert.equal(json.harness_public_key[name].length, value.length, name);
  }
  assert.equal(json.harness_public_key.suite, theirs.suite);
  assert.deepEqual(world.dialled, [{ url: world.url, headers: {}, timeoutMs: 10_000 }]);
  assert.equal(authorization, "authorization-1");
  assert.equal(carrier.label, "exec-server environment environment");
  assert.equal(opened.connection.label, `Noise exec-server rendezvous websocket ${SHOWN}`);
  assert.equal(opened.keepsRequestLimit, true);
  await close(opened);
});

Deno.test("the token is asked for before every request, and its failure is told without it", async () => {
  const world = new RelayWorld();
  let number = 0;
  const carrier = world.carrier({ token: () => `t${++number}`, headers: () => ({ "x-one": String(number) }) });
  world.registryActs.push(refusal(401), refusal(401));
  for (let i = 0; i < 2; i++) await assert.rejects(open(world, {}, carrier), { kind: "registry", retryable: false });
  assert.deepEqual(world.asked.map(({ headers }) => headers["authorization"]), ["Bearer t1", "Bearer t2"]);
  const failing = async (token: unknown, message: string, retryable: boolean) => {
    const opening = open(world, {}, world.carrier({ token: token as () => string }));
    await world.passUntil(opening);
    const whole = `environment registry configuration error: ${message}`;
    await assert.rejects(opening, { kind: "configuration", message: whole, retryable });
  };
  await failing("two\nlines", 'the value of the header "authorization" cannot be sent', false);
  await failing(() => Promise.reject(new Error("no such file")), "cannot get the token: no such file", true);
  await failing(() => undefined, "cannot get the token: it is undefined, not a text", true);
  assert.equal(world.asked.length, 2);
});

Deno.test("headers of one's own that cannot be had fail as a token does, and whoever hangs can be given up", async () => {
  const world = new RelayWorld();
  const headers = () => Promise.reject(new Error("no vault"));
  const opening = open(world, {}, world.carrier({ headers }));
  await world.passUntil(opening);
  await assert.rejects(opening, {
    ...{ kind: "configuration", retryable: true },
    message: "environment registry configuration error: cannot get the headers: no vault",
  });

  const reason = new Error("not wanted");
  for (const which of ["token", "headers"]) {
    const aborter = new AbortController();
    const asked = Promise.withResolvers<void>();
    const hangs = () => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const opening = open(world, { signal: aborter.signal }, world.carrier({ [which]: hangs }));
    await asked.promise;
    aborter.abort(reason);
    await assert.rejects(opening, reason);
  }
  assert.deepEqual([world.asked.length, world.clock.pendingTimers], [0, 0]);
});

Deno.test("a token goes to https and to this machine only", async () => {
  const world = new RelayWorld();
  const to = (registry: string) => open(world, {}, world.carrier({ registry }));
  for (const registry of ["http://registry.test", "http://10.0.0.1:80", "ws://127.0.0.1", "nonsense", ""]) {
    await assert.rejects(to(registry), {
      kind: "configuration",
      message: /^environment registry configuration error: /,
    });
  }
  assert.equal(world.asked.length, 0);
  for (const registry of ["http://127.0.0.1:1", "http://localhost", "http://[::1]:1", "https://registry.test"]) {
    world.registryActs.push(refusal(404));
    await assert.rejects(to(registry), { kind: "registry" });
  }
});

Deno.test("an environment whose id is blank, or a path of its own, is refused", async () => {
  const world = new RelayWorld();
  for (const environmentId of ["", "  ", ".", ".."]) {
    await assert.rejects(open(world, {}, world.carrier({ environmentId })), { kind: "configuration" });
  }
  assert.equal(world.asked.length, 0);
});

Deno.test("keys are kept as long as somebody uses them, and wiped then", async () => {
  const world = new RelayWorld();
  const carrier = world.carrier();
  const key = async () => {
    const opening = open(world, {}, carrier);
    await world.answer(world.sockets.length + 1);
    await close(await opening);
    return world.asked.at(-1)?.json.harness_public_key.x25519_public_key;
  };
  const uses = [carrier.use!(), carrier.use!()];
  const first = await key();
  uses[0]![Symbol.dispose]();
  uses[0]![Symbol.dispose]();
  assert.equal(await key(), first);
  uses[1]![Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve));
  assert.notEqual(await key(), first);
});

Deno.test("a client that ends wipes its keys", async () => {
  const world = new RelayWorld();
  const generated = await captureKeys(async () => {
    const { client } = await connected(world);
    await client[Symbol.asyncDispose]();
    await new Promise((resolve) => setTimeout(resolve));
  });
  const shown = world.asked[0]?.json.harness_public_key.x25519_public_key;
  // Those of the handshakes are made in the same way.
  const own = generated.find((keys) => encodePublicKeys(keys.public).x25519_public_key === shown);
  assert.throws(() => own!.x25519.agree(EXECUTORS[0].public.x25519), /wiped/);
});

/** The static keys that are made meanwhile. */
async function captureKeys(act: () => Promise<void>): Promise<StaticKeys[]> {
  const { generate } = StaticKeys;
  const generated: StaticKeys[] = [];
  StaticKeys.generate = async (primitives) => {
    const keys = await generate.call(StaticKeys, primitives);
    generated.push(keys);
    return keys;
  };
  try {
    await act();
    return generated;
  } finally {
    StaticKeys.generate = generate;
  }
}

Deno.test("an environment behind a registry may be provisioned, and then be refreshed", async () => {
  const world = new RelayWorld();
  const provisioning = new Provisioning();
  const carrier = deferredCarrier(world.carrier(), provisioning);
  const opening = open(world, {}, carrier);
  assert.equal(world.asked.length, 0);
  provisioning.ready();
  await world.answer(1);
  await close(await opening);
  assert.equal(typeof carrier.lookUp, "function");
  assert.equal(typeof carrier.use, "function");
});

Deno.test("on the relay our own server's clients hold requests back as well", async () => {
  const world = new RelayWorld();
  const { clock } = world;
  const connecting = ExecClient.connect(world.carrier(), { clock });
  const server = await world.accept(1);
  const environmentInfo = { ...INFO, capabilities: { [EXTENSIONS_CAPABILITY]: true } };
  await server.shakeHands({ sessionId: "s1", environmentInfo });
  const client = await connecting;
  const calls = Array.from({ length: 200 }, () => client.call("environment/status", null).catch(() => {}));
  const first = await server.next();
  while (server.unread.length < MAX_UNANSWERED_REQUESTS - 1) await new Promise((resolve) => setTimeout(resolve));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(server.unread.length, MAX_UNANSWERED_REQUESTS - 1);
  server.answer(first.id, { status: "ready" });
  await client[Symbol.asyncDispose]();
  await Promise.all(calls);
});

Deno.test("where there are only a browser's WebSockets the relay is refused in words", async () => {
  const { process } = globalThis as { process?: unknown };
  Object.defineProperty(globalThis, "process", { value: undefined, configurable: true, writable: true });
  try {
    await assert.rejects(open(new RelayWorld()), { kind: "configuration", message: /WebSockets that can ping/ });
  } finally {
    Object.defineProperty(globalThis, "process", { value: process, configurable: true, writable: true });
  }
});

Deno.test("what the relay needs is loaded by who uses it, and by nobody else", async () => {
  const loaded = await loadedWith("lib/client/mod.ts");
  assert.ok(loaded.some((module) => module.endsWith("/lib/client/relay_carrier.ts")));
  assert.deepEqual(loaded.filter((module) => /\/lib\/relay\/|^(npm|node):|relay_opener/.test(module)), []);
  const later = await loadedWith("lib/client/relay_opener.ts");
  for (const name of [/^npm:\/?ws@/, /^npm:\/?protobufjs@/]) {
    assert.ok(later.some((module) => name.test(module)), `${name}`);
  }
});

interface ModuleInfo {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier: string }; readonly isDynamic?: boolean }[];
}

/** What is loaded together with a module: what it imports by more than a type, and not by a call. */
async function loadedWith(path: string): Promise<string[]> {
  const project = new URL("../../", import.meta.url);
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", path], cwd: project.pathname });
  const { modules } = JSON.parse(new TextDecoder().decode((await command.output()).stdout));
  const infos = new Map((modules as ModuleInfo[]).map((info) => [info.specifier, info]));
  const loaded = new Set<string>();
  const visit = (specifier: string) => {
    if (loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const { code, isDynamic } of infos.get(specifier)?.dependencies ?? []) {
      if (code !== undefined && !isDynamic) visit(code.specifier);
    }
  };
  visit(new URL(path, project).href);
  return [...loaded];
}
