import assert from "node:assert/strict";
import { type EnvironmentSet, environmentSources } from "../../lib/client/environment_sources.ts";
import { Environments, type EnvironmentsOptions } from "../../lib/client/environments.ts";
import type { Environment } from "../../lib/client/environment.ts";
import { TestRegistry } from "../relay/support/registry.ts";
import { idle, ScriptedCarrier } from "../support/scripted_server.ts";
import { RawWebSocketServer } from "./support/raw_websocket_server.ts";

const NOISE = "CODEX_EXEC_SERVER_NOISE";
const REGISTRY = {
  [`${NOISE}_REGISTRY_URL`]: " https://registry ",
  [`${NOISE}_ENVIRONMENT_ID`]: "e",
  [`${NOISE}_AUTH_TOKEN`]: "t",
};

/** Variables, and files by their paths. */
function options(variables: Record<string, string>, files: Record<string, string> = {}): EnvironmentsOptions {
  return { env: (name) => variables[name], readFile: (path) => Promise.resolve(files[path]) };
}

async function found(variables: Record<string, string>, files?: Record<string, string>): Promise<unknown> {
  const { includeLocal, default: id, environments } = await environmentSources(options(variables, files));
  return [includeLocal, id, ...environments.map(({ id, carrier }) => `${id} ${carrier.label}`)];
}

const LOCAL = [true, "local"];

Deno.test("without a word of configuration there is this machine", async () => {
  assert.deepEqual(await found({}), LOCAL);
  assert.deepEqual(await found({ CODEX_EXEC_SERVER_URL: "  ", HOME: "/h" }), LOCAL);
  assert.deepEqual(await found({ [`${NOISE}_CHATGPT_ACCOUNT_ID`]: "a", [`${NOISE}_AUTH_TOKEN`]: " " }), LOCAL);
});

Deno.test("CODEX_EXEC_SERVER_URL is the only environment, or none at all; it is not checked", async () => {
  for (const none of ["none", "NONE", " None "]) {
    assert.deepEqual(await found({ CODEX_EXEC_SERVER_URL: none }), [false, null]);
  }
  for (const url of ["ws://127.0.0.1:1", "foo"]) {
    assert.deepEqual(await found({ CODEX_EXEC_SERVER_URL: ` ${url} ` }), [
      false,
      "remote",
      `remote exec-server websocket ${url}`,
    ]);
  }
});

Deno.test("environments.toml of CODEX_HOME, or of .codex in HOME, wins over the URL, also when it is empty", async () => {
  const text = `default = "b"\n[[environments]]\nid = "a"\nprogram = "x"\n[[environments]]\nid = "b"\nurl = "ws://b"`;
  const url = { CODEX_EXEC_SERVER_URL: "ws://127.0.0.1:1" };
  const both = [true, "b", "a exec-server stdio command", "b exec-server websocket ws://b"];
  assert.deepEqual(await found({ ...url, CODEX_HOME: "/c", HOME: "/h" }, { "/c/environments.toml": text }), both);
  assert.deepEqual(await found({ ...url, HOME: "/h" }, { "/h/.codex/environments.toml": text }), both);
  assert.deepEqual(await found({ ...url, CODEX_HOME: "", HOME: "/h" }, { "/h/.codex/environments.toml": text }), both);
  assert.deepEqual(await found({ ...url, CODEX_HOME: "/c" }, { "/c/environments.toml": "" }), LOCAL);
});

Deno.test("a registry wins over both, and nothing of it is checked before it is used", async () => {
  const others = { CODEX_EXEC_SERVER_URL: "ws://127.0.0.1:1", CODEX_HOME: "/c" };
  const variables = { ...others, ...REGISTRY };
  assert.deepEqual(await found(variables, { "/c/environments.toml": "=" }), [
    false,
    "remote",
    "remote exec-server environment e",
  ]);
  await using environments = await Environments.open(options({ ...variables, [`${NOISE}_REGISTRY_URL`]: "ftp://x" }));
  await assert.rejects((await environments.get()).info(), {
    kind: "attempt",
    message: "exec-server connection attempt failed: environment registry configuration error: " +
      "remote transport requires https for non-loopback endpoints",
  });
});

Deno.test("what the variables of a registry say goes to it, without the blanks around it", async () => {
  await using registry = new TestRegistry({ url: () => "ws://127.0.0.1:9" });
  registry.always("connect", { status: 403 });
  const variables = {
    [`${NOISE}_REGISTRY_URL`]: ` ${registry.url}/ `,
    [`${NOISE}_ENVIRONMENT_ID`]: " of the test\n",
    [`${NOISE}_AUTH_TOKEN`]: "\ttoken ",
  };
  for (const account of [undefined, "  ", " account "]) {
    const all = account === undefined ? variables : { ...variables, [`${NOISE}_CHATGPT_ACCOUNT_ID`]: account };
    const { environments: [environment] } = await environmentSources(options(all));
    const opening = environment!.carrier.open({ signal: new AbortController().signal });
    await assert.rejects(opening, { kind: "registry", message: /403 Forbidden/ });
  }
  const asked = registry.requestsOf("connect");
  assert.deepEqual(asked.map(({ headers }) => headers["chatgpt-account-id"]), [undefined, undefined, "account"]);
  for (const { environment, headers } of asked) {
    assert.deepEqual([environment, headers["authorization"]], ["of%20the%20test", "Bearer token"]);
  }
});

Deno.test("a registry of which something is missing is refused", async () => {
  for (const name of Object.keys(REGISTRY)) {
    for (const value of [undefined, " "]) {
      await assert.rejects(environmentSources(options({ ...REGISTRY, [name]: value as string })), {
        kind: "configuration",
        message: "environment registry configuration error: Noise environment requires " +
          "CODEX_EXEC_SERVER_NOISE_REGISTRY_URL, CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID, and " +
          "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
      });
    }
  }
});

Deno.test({
  name: "a named pipe in place of the file is refused, not waited for",
  ignore: Deno.build.os === "windows",
  async fn() {
    const dir = await Deno.makeTempDir();
    try {
      const path = `${dir}/environments.toml`;
      await new Deno.Command("mkfifo", { args: [path] }).output();
      await assert.rejects(environmentSources({ env: (name) => name === "CODEX_HOME" ? dir : undefined }), {
        message: `exec-server protocol error: failed to read environment config \`${path}\`: it is a named pipe`,
      });
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});

Deno.test("a file that cannot be read, or is wrong, is named", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const env = (name: string) => name === "CODEX_HOME" ? dir : undefined;
    const path = `${dir}/environments.toml`;
    const refused = (detail: string) =>
      assert.rejects(Environments.open({ env }), {
        kind: "protocol",
        message: `exec-server protocol error: ${detail}`,
      });
    assert.equal((await environmentSources({ env })).includeLocal, true);
    await Deno.mkdir(path);
    await refused(`failed to read environment config \`${path}\`: Is a directory (os error 21)`);
    await Deno.remove(path);
    await Deno.writeFile(path, new Uint8Array([0x64, 0x3d, 0x22, 0xff, 0x22]));
    await refused(`failed to read environment config \`${path}\`: stream did not contain valid UTF-8`);
    await Deno.writeTextFile(path, `#${"x".repeat(131_072)}`);
    await refused(`failed to read environment config \`${path}\`: it is larger than 131072 bytes`);
    await Deno.writeTextFile(path, `#${"x".repeat(131_071)}`);
    assert.equal((await environmentSources({ env })).includeLocal, true);
    await Deno.writeTextFile(path, "foo = 1");
    await refused(
      `failed to parse environment config \`${path}\`: ` +
        "unknown field `foo`, expected one of `default`, `include_local`, `environments`",
    );
    await Deno.writeTextFile(path, '[[environments]]\nid = "a"\nprogram = "./x"\ncwd = "d"');
    await using environments = await Environments.open({ env });
    await assert.rejects((await environments.get("a")).info(), {
      message: "exec-server connection attempt failed: failed to spawn exec-server: " +
        "No such file or directory (os error 2)",
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("the token and the limit of the file are the carrier's", async () => {
  const seen: unknown[] = [];
  await using server = new RawWebSocketServer(async ({ requestLine, headers, answer }) => {
    seen.push(headers.get("authorization"));
    if (!requestLine.includes("/silent")) await answer("HTTP/1.1 403 No\r\n\r\n");
  });
  const text = `[[environments]]\nid = "a"\nurl = "${server.url}"\nauth_bearer_token = "t"\n` +
    `[[environments]]\nid = "b"\nurl = "${server.url}/silent"\nconnect_timeout_sec = 0.02`;
  const { environments } = await environmentSources(options({ CODEX_HOME: "/c" }, { "/c/environments.toml": text }));
  const open = (index: number) => environments[index]!.carrier.open({ signal: new AbortController().signal });
  await assert.rejects(open(0), /: HTTP error: 403 Forbidden$/);
  assert.deepEqual(seen, ["Bearer t"]);
  await assert.rejects(open(1), { kind: "connectTimeout", message: /after 20ms$/ });
});

/** What was configured, with connections played by the test. */
function configured(
  carriers: Record<string, ScriptedCarrier | null>,
  more: Partial<EnvironmentSet> = {},
): EnvironmentSet {
  return {
    includeLocal: true,
    default: "local",
    environments: Object.entries(carriers).map(([id, carrier]) => ({
      id,
      carrier: carrier ??
        { label: id, resume: null, renewable: false, open: () => Promise.reject(new Error("started")) },
      requiredSkills: [],
    })),
    ...more,
  };
}

Deno.test("the default comes first, and is what is got without a name", async () => {
  const set = configured({ a: new ScriptedCarrier(), b: new ScriptedCarrier() }, { default: "b" });
  await using environments = new Environments(set, { background: false });
  assert.deepEqual(environments.ids, ["b", "local", "a"]);
  assert.equal((await environments.get()).id, "b");
  assert.equal((await environments.get("a")).id, "a");
  assert.equal(await environments.get("a"), await environments.get("a"));
  await assert.rejects(environments.get("c"), { kind: "unavailable", message: "environment `c` is not configured" });
});

Deno.test("without a default none is got without a name", async () => {
  await using environments = new Environments(configured({}, { includeLocal: false, default: null }));
  assert.deepEqual(environments.ids, []);
  await assert.rejects(environments.get(), { kind: "unavailable", message: "no environment is configured" });
  await assert.rejects(environments.get("local"), { message: "environment `local` is not configured" });
});

Deno.test("environments behind a URL begin to connect at once, commands when they are used", async () => {
  const [a, b] = [new ScriptedCarrier(), new ScriptedCarrier()];
  {
    await using _environments = new Environments(configured({ a, b, command: null }));
    await idle();
    assert.deepEqual([a.attempts, b.attempts], [1, 1]);
  }
  await using quiet = new Environments(configured({ a, b, command: null }), { background: false });
  await idle();
  assert.deepEqual([a.attempts, b.attempts], [1, 1]);
  await assert.rejects((await quiet.get("command")).info(), { message: "started" });
});

Deno.test("this machine comes from whoever knows how, once; when that failed, again", async () => {
  const none = new Environments(configured({}));
  await assert.rejects(none.get(), {
    kind: "unsupported",
    message: "this program cannot use its own machine as an environment",
  });
  await none[Symbol.asyncDispose]();
  let asked = 0;
  let ended = 0;
  const local = () => {
    if (++asked === 1) return Promise.reject(new Error("not today"));
    return Promise.resolve(
      { id: "local", [Symbol.asyncDispose]: () => Promise.resolve(void ended++) } as unknown as Environment,
    );
  };
  const environments = new Environments(configured({}), { local });
  await assert.rejects(environments.get(), { message: "not today" });
  assert.equal((await environments.get()).id, "local");
  assert.equal(await environments.get("local"), await environments.get());
  assert.equal(asked, 2);
  await environments[Symbol.asyncDispose]();
  assert.equal(ended, 1);
  await assert.rejects(environments.get(), { kind: "closed" });
});

Deno.test("an environment that is provisioned connects when it is chosen and ready, and only then", async () => {
  const carrier = new ScriptedCarrier();
  await using environments = new Environments(configured({}));
  const provisioning = environments.provision("late", carrier);
  assert.equal(environments.provision("late", new ScriptedCarrier()), provisioning);
  provisioning.ready();
  await idle();
  assert.equal(carrier.attempts, 0);
  const environment = await environments.get("late");
  await idle();
  assert.equal(carrier.attempts, 1);
  await carrier.acceptAndShakeHands();
  assert.deepEqual((await environment.info()).shell, { name: "bash", path: "/bin/bash" });
});

Deno.test("ending the environments ends what was being provisioned", async () => {
  const environments = new Environments(configured({}));
  environments.provision("late", new ScriptedCarrier());
  const environment = await environments.get("late");
  const got = assert.rejects(environment.info(), { kind: "attempt" });
  await environments[Symbol.asyncDispose]();
  await got;
  for (const id of ["late", "later"]) {
    assert.throws(() => environments.provision(id, new ScriptedCarrier()), { kind: "closed" });
    assert.throws(() => environments.add(id, new ScriptedCarrier()), { kind: "closed" });
  }
});

Deno.test("an id is given once, and in one way", async () => {
  await using environments = new Environments(configured({ a: new ScriptedCarrier() }), { background: false });
  const mode = (id: string) => ({
    kind: "configuration",
    message: `environment \`${id}\` is already registered with a different provisioning mode`,
  });
  const duplicated = (id: string) => ({
    kind: "protocol",
    message: `exec-server protocol error: environment id \`${id}\` is duplicated`,
  });
  environments.provision("late", new ScriptedCarrier());
  environments.add("new", new ScriptedCarrier());
  assert.deepEqual(environments.ids, ["local", "a", "late", "new"]);
  for (const id of ["a", "new"]) {
    assert.throws(() => environments.provision(id, new ScriptedCarrier()), mode(id));
    assert.throws(() => environments.add(id, new ScriptedCarrier()), duplicated(id));
  }
  assert.throws(() => environments.add("late", new ScriptedCarrier()), mode("late"));
  assert.throws(() => environments.add("local", new ScriptedCarrier()), duplicated("local"));
  assert.throws(() => environments.provision("local", new ScriptedCarrier()), duplicated("local"));
});
