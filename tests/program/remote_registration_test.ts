/** What a registry answers to a registration, and how the program then ends: recorded from the reference. */
import assert from "node:assert/strict";
import { TestRegistry } from "../relay/support/registry.ts";
import { RemoteChild, runRemote, someAtOnce } from "./remote_child.ts";
import { inTime } from "./eventually.ts";

interface Terminal {
  readonly status: number | null;
  readonly body: string;
  readonly stderr: string;
}

const recorded: {
  readonly terminal: readonly Terminal[];
  readonly retried: readonly { status: number; code: string }[];
} = JSON.parse(await Deno.readTextFile(new URL("../relay/vectors/registration-errors.json", import.meta.url)));

const ENV = { CODEX_API_KEY: "key-of-the-test" };
const NOWHERE = "ws://127.0.0.1:9/never?dialled";

function remote(registry: string, environment: string): string[] {
  return ["--remote", registry, "--environment-id", environment];
}

/** The answer that a recorded description stands for, and what it makes of the recorded line. */
function answerOf({ status, body, stderr }: Terminal, environment: string): { body: string; stderr: string } {
  if (status !== 200 || !body.startsWith("{...")) return { body, stderr };
  const whole = { environment_id: environment, url: NOWHERE, security_profile: "noise_hybrid_ik_v1" };
  if (body.includes("without executor_registration_id")) {
    const text = JSON.stringify(whole);
    return { body: text, stderr: stderr.replace("column 111", `column ${text.length}`) };
  }
  const registered = { ...whole, executor_registration_id: "r" };
  const wrong = body.includes("environment_id of another")
    ? { ...registered, environment_id: "another" }
    : { ...registered, security_profile: "plain" };
  return { body: JSON.stringify(wrong), stderr };
}

Deno.test("every answer that ends the registration for good ends the program with its line and exit code 1", async () => {
  const refusing = ((listener) => {
    listener.close();
    return `127.0.0.1:${listener.addr.port}`;
  })(Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const answers = recorded.terminal.map((terminal, index) => answerOf(terminal, `e${index}`));
  registry.always("register", ({ environment }) => {
    const index = Number(environment.slice(1));
    const { status } = recorded.terminal[index]!;
    return status === null ? { hang: true } : { status, body: answers[index]!.body };
  });
  // The one that takes ten seconds begins first.
  const order = [...recorded.terminal.keys()].sort((a, b) =>
    Number(recorded.terminal[b]!.body.startsWith("(no")) - Number(recorded.terminal[a]!.body.startsWith("(no"))
  );
  await someAtOnce(order, async (index) => {
    const isRefused = recorded.terminal[index]!.body === "(connection refused)";
    const place = isRefused ? `http://${refusing}` : registry.url;
    const ended = await runRemote({ args: remote(place, `e${index}`), env: ENV });
    const line = answers[index]!.stderr.replace("HOST:PORT", refusing).replace("/ID/", `/e${index}/`);
    assert.deepEqual(ended, { code: 1, stdout: "", stderr: `Error: ${line}\n` });
  });
  assert.equal(registry.requests.length, recorded.terminal.length - 1, "one attempt each");
});

Deno.test("what is worth another attempt is tried again, and said", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const asked = new Set<string>();
  registry.always("register", ({ environment }) => {
    if (asked.has(environment)) return { status: 403, body: "" };
    asked.add(environment);
    const { status, code } = recorded.retried[Number(environment.slice(1))]!;
    return { status, body: { error: { code, message: "not now" } } };
  });
  await someAtOnce(recorded.retried, async ({ code }, index) => {
    const environment = `r${index}`;
    const { code: exitCode, stderr } = await runRemote({ args: remote(registry.url, environment), env: ENV });
    assert.equal(exitCode, 1);
    const [retrying, last] = stderr.split("\n");
    assert.match(retrying!, new RegExp(` WARN retrying what=registration afterMs=\\d+ reason=${code}`));
    assert.match(last!, /^Error: environment registry authentication error: .*\(403 Forbidden\): empty error body$/);
  });
});

Deno.test("what is wrong with the command line of a forwarder ends it before anything is asked", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const prefix = "Error: failed to configure exec-server websocket: ";
  const cases: [string[], string][] = [
    [["--connect", "http://127.0.0.1:1"], `${prefix}forward destination must be a ws:// or wss:// URL\n`],
    [["--connect", "unix:///tmp/x"], `${prefix}forward destination must be a ws:// or wss:// URL\n`],
    [["--connect", "nope"], `${prefix}relative URL without a base\n`],
    [
      ["--connect", "ws://127.0.0.1:1", "--aws-sigv4", "--remote-transport", "direct"],
      "Error: direct exec-server transport does not support forwarding\n",
    ],
  ];
  await someAtOnce(cases, async ([args, stderr]) => {
    const ended = await runRemote({ args: ["forward", ...remote(registry.url, "x"), ...args], env: ENV });
    assert.deepEqual(ended, { code: 1, stdout: "", stderr });
  });
  assert.equal(registry.requests.length, 0);
});

Deno.test("what is wrong with the registry's address or the environment ends the program before anything is asked", async () => {
  const blank =
    "environment registry configuration error: environment id is required for remote exec-server registration";
  const untrusted =
    "remote exec-server API-key authentication is restricted to HTTPS openai.com and openai.org hosts " +
    "and subdomains or loopback hosts; --trust-registry HOST allows another one, over HTTPS";
  const cases: [string[], string][] = [
    [remote("http://127.0.0.1:9", " "), blank],
    [remote("nope", "x"), "invalid remote exec-server registration URL: relative URL without a base"],
    [remote("http://", "x"), "invalid remote exec-server registration URL: empty host"],
    [remote("https://registry.invalid", "x"), untrusted],
    [
      [...remote("http://registry.invalid", "x"), "--trust-registry", "registry.invalid"],
      untrusted,
    ],
    [
      [...remote("https://registry.invalid", "x"), "--trust-registry", "registry.invalid"],
      "environment registry request failed: error sending request for url " +
      "(https://registry.invalid/cloud/environment/x/register)",
    ],
    [[...remote("http://127.0.0.1:9", "x"), "--aws-sigv4"], "--aws-sigv4 requires --remote-transport direct"],
    [
      [...remote("http://registry.invalid", "x"), ...DIRECT],
      "environment registry configuration error: remote transport requires https for non-loopback endpoints",
    ],
    [[...remote("http://127.0.0.1:9", "x"), ...DIRECT, "--aws-service="], "AWS service name must not be empty"],
  ];
  await someAtOnce(cases, async ([args, line]) => {
    assert.deepEqual(await runRemote({ args, env: ENV }), { code: 1, stdout: "", stderr: `Error: ${line}\n` });
  });
});

const DIRECT = ["--remote-transport", "direct", "--aws-sigv4", "--aws-region", "eu-west-1"];

Deno.test("with the log off a refusal is still said", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  registry.always("register", { status: 503, body: { error: { code: "registration_conflict" } } });
  const args = [...remote(registry.url, "x"), "--log-level", "off"];
  await using child = await RemoteChild.start({ args, env: ENV });
  await registry.asked("register", 1);
  registry.always("register", { status: 400, body: "" });
  const { code, stdout, stderr } = await inTime("the end", child.ended());
  assert.deepEqual({ code, stdout, stderr }, {
    code: 1,
    stdout: "",
    stderr: "Error: environment registry request failed (400 Bad Request): empty or malformed error body\n",
  });
});
