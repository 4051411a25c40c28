import assert from "node:assert/strict";
import { type AwsLibrary, awsSigner, type AwsSignerOptions } from "../../../lib/relay/direct/aws_credentials.ts";
import type { SignedRequest } from "../../../lib/relay/credential.ts";

const signal = new AbortController().signal;
const REQUEST: SignedRequest = { method: "GET", url: "wss://example.com/", headers: {}, body: new Uint8Array() };
const KEYS = { AWS_ACCESS_KEY_ID: "AKENV", AWS_SECRET_ACCESS_KEY: "secret-1" };

type Options = Partial<Omit<AwsSignerOptions, "env" | "library">> & {
  readonly env?: Readonly<Record<string, string>>;
  readonly library?: Partial<AwsLibrary>;
};

/** What the signature says of whom it is and for where. */
async function shown({ env = {}, library, ...others }: Options): Promise<string> {
  const signer = await awsSigner({
    service: "execute-api",
    now: () => Date.UTC(2026, 0, 1),
    env: (name) => env[name],
    library: () => {
      if (library === undefined) throw new Error("the library was loaded");
      return Promise.resolve({
        provider: () => () => Promise.reject(new Error("no credentials")),
        region: () => Promise.resolve(undefined),
        ...library,
      });
    },
    ...others,
  });
  const { authorization, "x-amz-security-token": token = "" } = await signer.sign(REQUEST, signal);
  return `${/Credential=(\S+)\/aws4_request/.exec(authorization!)![1]} ${token}`.trim();
}

Deno.test("the keys of the environment need no library", async () => {
  const env = { ...KEYS, AWS_REGION: "eu-west-1" };
  assert.equal(await shown({ env }), "AKENV/20260101/eu-west-1/execute-api");
  assert.equal(
    await shown({ env: { ...env, AWS_SESSION_TOKEN: "sess" } }),
    "AKENV/20260101/eu-west-1/execute-api sess",
  );
  // Where nobody has asked for a profile, the keys win over the variable for it.
  assert.equal(await shown({ env: { ...env, AWS_PROFILE: "p1" } }), "AKENV/20260101/eu-west-1/execute-api");
});

Deno.test("the region is the flag's, else AWS_REGION's, else AWS_DEFAULT_REGION's, else the profile's", async () => {
  const library = { region: (profile: string) => Promise.resolve(`of-${profile}`) };
  const env = { ...KEYS, AWS_PROFILE: "p1", AWS_DEFAULT_REGION: "r-3", AWS_REGION: "r-2" };
  const region = async (options: Options) => (await shown(options)).split("/")[2];
  assert.equal(await region({ env, region: "r-1" }), "r-1");
  assert.equal(await region({ env }), "r-2");
  assert.equal(await region({ env: { ...env, AWS_REGION: "" } }), "r-3");
  assert.equal(await region({ env: { ...KEYS, AWS_PROFILE: "p1" }, library }), "of-p1");
  assert.equal(await region({ env: KEYS, library }), "of-default");
});

Deno.test("no region, or one that is none, is told at once", async () => {
  await assert.rejects(shown({ env: KEYS, library: {} }), {
    name: "CredentialError",
    message: "AWS SDK config did not resolve a region; give --aws-region or set AWS_REGION",
  });
  await assert.rejects(shown({ env: KEYS, region: "us east" }), {
    message: "the AWS region is not one: letters, digits and hyphens expected",
  });
});

Deno.test("a profile that is asked for wins over the keys of the environment", async () => {
  const asked: (string | undefined)[] = [];
  const provider: AwsLibrary["provider"] = (profile) => {
    asked.push(profile);
    return () => Promise.resolve({ accessKeyId: "AKPROFILE", secretAccessKey: "s" });
  };
  const options = { region: "r", library: { provider } };
  assert.equal(await shown({ ...options, env: KEYS, profile: "p1" }), "AKPROFILE/20260101/r/execute-api");
  assert.equal(await shown({ ...options, service: "svc1" }), "AKPROFILE/20260101/r/svc1");
  assert.deepEqual(asked, ["p1", undefined]);
});

Deno.test("credentials that were never there are a final failure; those that were may come back", async () => {
  await assert.rejects(shown({ region: "r", library: {} }), {
    name: "CredentialError",
    message: "failed to load AWS credentials: no credentials",
    transient: false,
  });
  let calls = 0;
  const provider = () => () =>
    ++calls === 2
      ? Promise.reject(new Error("Command failed: vault --token secret"))
      : Promise.resolve({ accessKeyId: "AK", secretAccessKey: "s" });
  const signer = await awsSigner({
    ...{ region: "r", service: "s", now: Date.now, env: () => undefined },
    library: () => Promise.resolve({ provider, region: () => Promise.resolve(undefined) }),
  });
  await signer.sign(REQUEST, signal);
  await assert.rejects(signer.sign(REQUEST, signal), {
    message: "failed to load AWS credentials: the profile's credential_process failed",
    transient: true,
  });
  await signer.sign(REQUEST, signal);
});

Deno.test("what AWS's library found and could not read is not repeated, and what it says steers no terminal", async () => {
  const cases: [Error, string][] = [
    [new SyntaxError(`Unexpected token 'S', "SECRETKEYA"... is not valid JSON`), "they are not valid JSON"],
    [new Error(`SyntaxError: Unexpected token 'S', "SECRETKEYA"... is not valid JSON`), "they are not valid JSON"],
    [new Error("no\n\x1b[31mway"), "no\\n\\u{1b}[31mway"],
  ];
  for (const [error, told] of cases) {
    const signer = await awsSigner({
      ...{ region: "r", service: "s", now: Date.now, env: () => undefined },
      library: () =>
        Promise.resolve({ provider: () => () => Promise.reject(error), region: () => Promise.resolve("r") }),
    });
    const failure = await signer.sign(REQUEST, signal).then(() => assert.fail(), (failure: Error) => failure);
    assert.equal(failure.message, `failed to load AWS credentials: ${told}`);
    // Whoever prints a failure prints its causes.
    assert.equal(failure.cause, undefined);
  }
});

Deno.test("waiting for credentials ends with the signal", async () => {
  const signer = await awsSigner({
    ...{ region: "r", service: "s", now: Date.now, env: () => undefined },
    library: () => Promise.resolve({ provider: () => () => new Promise(() => {}), region: () => Promise.resolve("r") }),
  });
  await assert.rejects(signer.sign(REQUEST, AbortSignal.abort(new Error("over"))), { message: "over" });
});

/** Asks AWS's library in a process of its own, for it reads the environment by itself; nothing of ours is in it. */
async function askLibrary(files: Record<string, string>, env: Record<string, string>, profile?: string) {
  const home = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${home}/.aws`);
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${home}/.aws/${name}`, text);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--cached-only",
        new URL("../aws_library_program.ts", import.meta.url).pathname,
        profile ?? "",
      ],
      clearEnv: true,
      env: {
        HOME: home,
        PATH: "/usr/bin:/bin",
        NO_COLOR: "1",
        AWS_EC2_METADATA_DISABLED: "true",
        DENO_DIR: denoDirectory(),
        ...env,
      },
    }).output();
    return JSON.parse(new TextDecoder().decode(stdout) || JSON.stringify(new TextDecoder().decode(stderr)));
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

function denoDirectory(): string {
  return Deno.env.get("DENO_DIR") ?? `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/deno`;
}

Deno.test("AWS's library finds what is in the shared files, and what their programs say", async () => {
  const credentials = "[p1]\naws_access_key_id = AKP\naws_secret_access_key = s\naws_session_token = t\n";
  const config = "[default]\nregion = r-0\n[profile p1]\nregion = r-1\n" +
    `[profile p2]\ncredential_process = echo '{"Version":1,"AccessKeyId":"AKX","SecretAccessKey":"s"}'\n`;
  const ask = (env: Record<string, string>, profile?: string) => askLibrary({ credentials, config }, env, profile);
  assert.deepEqual(await Promise.all([ask({}, "p1"), ask({ AWS_PROFILE: "p2" }), ask({})]), [
    { region: "r-1", accessKeyId: "AKP", sessionToken: "t" },
    { region: "r-0", accessKeyId: "AKX" },
    { region: "r-0", failure: "Could not load credentials from any providers" },
  ]);
});

Deno.test("AWS's library asks the container that it runs in", async () => {
  const asked: (string | null)[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    asked.push(request.headers.get("authorization"));
    const Expiration = new Date(Date.now() + 3_600_000).toISOString();
    return Response.json({ AccessKeyId: "AKC", SecretAccessKey: "s", Token: "t", Expiration });
  });
  const env = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${server.addr.port}/creds`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: "pod-token",
  };
  assert.deepEqual(await askLibrary({}, env), { accessKeyId: "AKC", sessionToken: "t" });
  assert.deepEqual(asked, ["pod-token"]);
});
