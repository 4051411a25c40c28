/** What standard input and the environment give a remote environment to show to its registry: recorded cases. */
import assert from "node:assert/strict";
import { TestRegistry } from "../relay/support/registry.ts";
import { inTime } from "./eventually.ts";
import { RemoteChild, type RemoteChildOptions, runRemote, someAtOnce } from "./remote_child.ts";

const NOWHERE = "ws://127.0.0.1:9/never?dialled";

/** One way to start, and what becomes of it: a header at the registry, or a line and exit code 1. */
interface Case extends Omit<RemoteChildOptions, "args"> {
  readonly what: string;
  readonly args?: readonly string[];
  readonly header?: string;
  readonly fails?: string;
  /** Its standard input ends after the first text. */
  readonly ends?: boolean;
}

async function all(registry: TestRegistry, flag: readonly string[], cases: readonly Case[]): Promise<void> {
  await someAtOnce(cases, async (one, index) => {
    const environment = `env-${index}`;
    const { what, header, fails, ends = false, args = [], input, ...rest } = one;
    const place = ["--remote", registry.url, "--environment-id", environment];
    const said = input === undefined ? {} : { input: input.replaceAll("ENVIRONMENT", environment) };
    await using child = await RemoteChild.start({ args: [...place, ...flag, ...args], ...rest, ...said });
    if (ends) await child.program.closeInput();
    if (fails !== undefined) {
      assert.deepEqual(await child.ended(), { code: 1, stdout: "", stderr: `Error: ${fails}\n` }, what);
      return;
    }
    const asked = () => registry.requests.find((request) => request.environment === environment);
    const request = await inTime(`the registration with ${what}`, until(registry, asked));
    assert.equal(request.headers["authorization"], header, what);
    if (!ends) child.program.signal("SIGTERM");
    const { code, stdout, stderr } = await child.ended();
    assert.deepEqual([code, stdout], [0, ""], `${what}: ${stderr}`);
    assert.ok(!stderr.includes(header!.split(" ")[1]!), "no credential is shown");
  });
}

/** The first value of `look`, asked again with each request that comes. */
async function until<T>(registry: TestRegistry, look: () => T | undefined): Promise<T> {
  for (let count = 1;; count++) {
    const found = look();
    if (found !== undefined) return found;
    await registry.asked("register", count);
  }
}

Deno.test("--registration-bearer-stdin shows the first line of standard input", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const tooLong = "expected a newline-terminated registration bearer of at most 16 KiB";
  const invalid = "invalid registration bearer";
  const longest = "b".repeat(16_383);
  await all(registry, ["--registration-bearer-stdin"], [
    {
      what: "a key in the environment as well",
      input: "my-bearer\n",
      env: { CODEX_API_KEY: "k" },
      header: "Bearer my-bearer",
    },
    { what: "a carriage return", input: "my-bearer\r\n", header: "Bearer my-bearer" },
    { what: "the longest", input: `${longest}\n`, header: `Bearer ${longest}` },
    { what: "no newline", input: "my-bearer", ends: true, fails: tooLong },
    { what: "too long", input: `${longest}b\n`, fails: tooLong },
    { what: "nothing", fails: tooLong },
    { what: "empty", input: "\n", fails: invalid },
    { what: "blanks around it", input: " my bearer \n", fails: invalid },
    { what: "a scheme before it", input: "Bearer abc\n", fails: invalid },
  ]);
});

function frame(members: Record<string, unknown> = {}, environment = "ENVIRONMENT"): string {
  const expires = Math.floor(Date.now() / 1000) + 3600;
  return JSON.stringify({ version: 1, environment_id: environment, token: "tok-1", expires_at: expires, ...members }) +
    "\n";
}

Deno.test("--executor-credential-stdin shows the newest credential of standard input, and ends with it", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const invalid = "invalid exec-server executor credential frame";
  await all(registry, ["--executor-credential-stdin"], [
    { what: "a good frame", input: frame(), header: "Bearer tok-1" },
    { what: "another member", input: frame({ extra: 1 }), fails: invalid },
    { what: "a missing member", input: frame({ expires_at: undefined }), fails: invalid },
    { what: "another version", input: frame({ version: 2 }), fails: invalid },
    { what: "an empty token", input: frame({ token: "" }), fails: invalid },
    { what: "a blank in the token", input: frame({ token: "a b" }), fails: invalid },
    { what: "no JSON", input: "nope\n", fails: invalid },
    {
      what: "another environment",
      input: frame({}, "zzz"),
      fails: "exec-server executor credential is for a different environment",
    },
    {
      what: "expired",
      input: frame({ expires_at: Math.floor(Date.now() / 1000) - 10 }),
      fails: "exec-server executor credential is expired",
    },
    {
      what: "too long",
      input: `${" ".repeat(16_384)}\n`,
      fails: "exec-server executor credential frame exceeds the size limit",
    },
    { what: "nothing", fails: "exec-server executor credential pipe closed" },
  ]);
});

Deno.test("later frames of --executor-credential-stdin count, its end is exit code 0, and a bad one exit code 1", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const conflict = { status: 503, body: { error: { code: "registration_conflict", message: "x" } } };
  const args = (environment: string) => [
    ...["--remote", registry.url, "--environment-id", environment],
    "--executor-credential-stdin",
  ];
  registry.always("register", conflict);
  {
    await using child = await RemoteChild.start({ args: args("first"), input: frame({}, "first") });
    await registry.asked("register", 1);
    await child.write(frame({ token: "tok-2" }, "first"));
    const second = await until(
      registry,
      () => registry.requests.find(({ headers }) => headers["authorization"] === "Bearer tok-2"),
    );
    assert.equal(second.environment, "first");
    await child.program.closeInput();
    assert.equal((await child.ended()).code, 0);
  }
  const before = registry.requests.length;
  await using child = await RemoteChild.start({ args: args("second"), input: frame({}, "second") });
  await registry.asked("register", before + 1);
  await child.write("nope\n");
  const { code, stderr } = await child.ended();
  assert.equal(code, 1);
  assert.match(stderr, /^Error: invalid exec-server executor credential frame$/m);
});

Deno.test("the body of an error is not shown to --executor-credential-stdin", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  registry.always("register", { status: 401, body: { error: { code: "c", message: "tok-1 is bad" } } });
  const args = ["--remote", registry.url, "--environment-id", "x", "--executor-credential-stdin"];
  assert.deepEqual(await runRemote({ args, input: frame({}, "x") }), {
    code: 1,
    stdout: "",
    stderr: "Error: environment registry authentication error: environment registry authentication failed " +
      "(401 Unauthorized): response body omitted\n",
  });
});

Deno.test("without an option there is the key of the environment, else the sign-in file, else nothing", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const nothing = "remote exec-server registration requires ChatGPT authentication or API key authentication; " +
    "run `codex login` or set CODEX_API_KEY";
  const file = { "auth.json": JSON.stringify({ OPENAI_API_KEY: "of-the-file" }) };
  await all(registry, [], [
    { what: "nothing", fails: nothing },
    { what: "the key of another program", env: { OPENAI_API_KEY: "k" }, fails: nothing },
    { what: "a blank key", env: { CODEX_API_KEY: " " }, fails: nothing },
    { what: "a key", env: { CODEX_API_KEY: " my-key " }, files: file, header: "Bearer my-key" },
    { what: "a file", files: file, header: "Bearer of-the-file" },
    {
      what: "an agent that is not there",
      args: ["--use-agent-identity-auth"],
      fails: "CODEX_ACCESS_TOKEN is required when --use-agent-identity-auth is set",
    },
    {
      what: "a ChatGPT token for a registry in the clear",
      args: ["--chatgpt-token-stdin"],
      fails: "ChatGPT token registry URLs must use HTTPS without userinfo or fragments",
    },
  ]);
});

Deno.test("--registration-bearer-file shows the token of a file that nobody else can read", async () => {
  await using registry = new TestRegistry({ url: () => NOWHERE });
  const home = await Deno.makeTempDir({ prefix: "exec-server-token-" });
  const path = `${home}/token`;
  try {
    await Deno.writeTextFile(path, "of-the-file\n", { mode: 0o600 });
    const flag = ["--registration-bearer-file", path];
    await all(registry, flag, [{ what: "a private file", env: { CODEX_API_KEY: "k" }, header: "Bearer of-the-file" }]);
    await Deno.chmod(path, 0o644);
    const args = ["--remote", registry.url, "--environment-id", "x", ...flag];
    const { code, stderr } = await runRemote({ args });
    assert.deepEqual([code, registry.requests.length], [1, 1]);
    assert.ok(stderr.startsWith("Error: ") && stderr.includes(path) && !stderr.includes("of-the-file"), stderr);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
