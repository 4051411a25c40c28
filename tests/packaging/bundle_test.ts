import assert from "node:assert/strict";
import { bundleProgram } from "../../scripts/compile/bundle.ts";
import type { Program } from "../../scripts/compile/embed.ts";
import { noticesOf, packageBeside, packagesOf } from "../../scripts/compile/notices.ts";
import { fileOf } from "../../scripts/compile/packages.ts";

const PACKAGES = [
  ...["@aws-sdk/credential-provider-node", "@noble/ciphers/aes.js", "@noble/ciphers/salsa.js"],
  ...["@noble/curves/ed25519.js", "@noble/hashes/blake2.js", "@noble/post-quantum/ml-kem.js", "@smithy/core/config"],
  ...["protobufjs/minimal.js", "toml-eslint-parser", "ws", "yaml"],
];

/** What executables embed; made once. */
async function bundle(directory: string): Promise<Program> {
  return await bundleProgram(directory, new AbortController().signal);
}

Deno.test("what is embedded is the program and what it needs, and tells nothing of the machine", async (t) => {
  const directory = await Deno.makeTempDir({ prefix: "exec-server-bundle-test-" });
  try {
    const program = await bundle(directory);
    const file = (name: string) => `${program.directory}/packages/${fileOf(name)}.js`;

    await t.step(
      "the packages are those of deno.json that the program imports, and nothing else is beside them",
      () => {
        assert.deepEqual(program.packages, PACKAGES);
        const files = [...Deno.readDirSync(`${program.directory}/packages`)].map(({ name }) => name).sort();
        assert.deepEqual(files, ["none.js", ...PACKAGES.map((name) => `${fileOf(name)}.js`)].sort());
      },
    );

    await t.step("all modules come from the program, which needs no others", () => {
      const sources = new Set<string>();
      for (const { name, isFile } of Deno.readDirSync(program.directory)) {
        if (!isFile) continue;
        assert.match(name, /\.js$/);
        const text = Deno.readTextFileSync(`${program.directory}/${name}`);
        for (const [, source] of text.matchAll(/^\/\/ (\S+\.(?:ts|js|mjs|cjs|json))$/gm)) sources.add(source!);
        for (const [, module] of text.matchAll(/^.*?(?:\bfrom |\bimport ?\(?)"([^"]+)"/gm)) {
          const known = /^(\.\/|node:)/.test(module!) || [...PACKAGES, "@lydell/node-pty"].includes(module!);
          assert.ok(known, `${name} imports ${module}`);
        }
      }
      assert.deepEqual([...sources].filter((source) => !source.startsWith("lib/")).sort(), ["deno.json", "main.ts"]);
      assert.ok(sources.has("lib/sandbox/launcher/main.ts"));
    });

    await t.step("no file names a folder of this machine", async () => {
      const home = Deno.env.get("HOME");
      const folders = [directory, Deno.cwd(), ...(home === undefined || home === "/" ? [] : [`${home}/`])];
      for (const path of files(program.directory)) {
        const text = await Deno.readTextFile(path);
        for (const folder of folders) assert.ok(!text.includes(folder.slice(1)), `${path} names ${folder}`);
      }
    });

    await t.step(
      "the notices name each package that something is of, whose licence is permissive, and no other",
      async () => {
        const bundled = await packagesOf(program.sources);
        const names = bundled.map(({ name }) => name);
        const isOf = (module: string, name: string) => module === name || module.startsWith(`${name}/`);
        for (const module of PACKAGES) assert.ok(names.some((name) => isOf(module, name)), module);
        for (const name of ["eslint-visitor-keys", "long"]) assert.ok(names.includes(name), name);
        for (const name of ["fast-check", "pure-rand", "typescript"]) assert.ok(!names.includes(name), name);
        const notices = noticesOf([...bundled, await packageBeside(bundled[0]!, "@lydell/node-pty", "1.1.0")], "1.2.3");
        assert.match(notices, /^@lydell\/node-pty 1\.1\.0 \(MIT\)\n {2}with @lydell\/node-pty-darwin-arm64\n/m);
        assert.match(notices, /^Copyright .* Daniel Wirtz/m);
        assert.ok(!notices.includes(bundled[0]!.directory));
      },
    );

    await t.step("bundled packages export what packages export", async () => {
      for (const name of PACKAGES) {
        const [bundled, whole] = [await import(`file://${file(name)}`), await import(name)];
        const kinds = (module: Record<string, unknown>) =>
          Object.entries(module).filter(([name]) => name !== "module.exports" && name !== "default")
            .map(([name, value]) => `${name}: ${typeof value}`).sort();
        assert.deepEqual(kinds(bundled), kinds(whole));
      }
      const { default: WebSocket } = await import(`file://${file("ws")}`);
      assert.equal(WebSocket.CLOSED, 3);
      const { default: protobuf } = await import(`file://${file("protobufjs/minimal.js")}`);
      assert.deepEqual(new protobuf.Writer().uint32(300).finish(), new Uint8Array([0xac, 0x02]));
    });

    await t.step("bundled packages load no module that somebody has put above them", async () => {
      const planted = `${directory}/node_modules/bufferutil`;
      await Deno.mkdir(planted, { recursive: true });
      await Deno.writeTextFile(`${planted}/index.js`, 'console.log("planted");');
      assert.equal(await printed(`import "${file("ws")}";`), "");
      const ours = 'import { createRequire } from "node:module"; createRequire(import.meta.url)("bufferutil");';
      await Deno.writeTextFile(`${directory}/program/packages/other.js`, ours);
      assert.equal(await printed(`import "${directory}/program/packages/other.js";`), "planted\n");
    });

    await t.step("bundled, the chain of AWS credentials finds and fails the same", async () => {
      const settings = await awsSettings(directory);
      const main = (module: string) => `
        const { defaultProvider } = await import("${module}");
        for (const profile of ${JSON.stringify(PROFILES)}) {
          console.log(profile, await defaultProvider({ profile })().then((found) => found.accessKeyId, String));
        }`;
      const bundled = await printed(main(file(PACKAGES[0]!)), settings);
      assert.match(bundled, /^process AKIAEXAMPLE$/m);
      assert.match(bundled, /^role Error: connect ECONNREFUSED 127\.0\.0\.1:9$/m);
      // With the project's own packages, which are there already.
      const locked = ["--config=deno.json", "--frozen", "--cached-only"];
      assert.equal(bundled, await printed(main(PACKAGES[0]!), settings, locked));
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

function* files(directory: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* files(`${directory}/${name}`);
    else yield `${directory}/${name}`;
  }
}

/** What a module prints that runs in a process of its own, with a few variables and no others. */
async function printed(
  source: string,
  env: Readonly<Record<string, string>> = {},
  options: readonly string[] = ["--no-config", "--no-lock"],
): Promise<string> {
  const args = ["run", "-A", ...options, "--ext=ts", "-"];
  const kept = Object.fromEntries(
    ["PATH", "HOME", "DENO_DIR", "XDG_CACHE_HOME"].map((name) => [name, Deno.env.get(name)] as const)
      .filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const child = new Deno.Command(Deno.execPath(), {
    args,
    clearEnv: true,
    env: { ...kept, NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(source));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const PROFILES = ["process", "login", "identity", "role"];

/** Variables that name files in which nothing is real, and an address where nobody answers. */
async function awsSettings(directory: string): Promise<Record<string, string>> {
  const keys = '{"Version":1,"AccessKeyId":"AKIAEXAMPLE","SecretAccessKey":"secret"}';
  await Deno.writeTextFile(`${directory}/keys`, keys);
  await Deno.writeTextFile(`${directory}/token`, "token");
  await Deno.writeTextFile(
    `${directory}/config`,
    `[profile process]
credential_process = cat ${directory}/keys
[profile login]
sso_start_url = https://127.0.0.1:9/start
sso_region = eu-west-1
sso_account_id = 1
sso_role_name = role
[profile identity]
role_arn = arn:aws:iam::123456789012:role/role
web_identity_token_file = ${directory}/token
[profile role]
role_arn = arn:aws:iam::123456789012:role/role
source_profile = process
`,
  );
  return {
    AWS_CONFIG_FILE: `${directory}/config`,
    AWS_SHARED_CREDENTIALS_FILE: `${directory}/none`,
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_REGION: "eu-west-1",
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  };
}
